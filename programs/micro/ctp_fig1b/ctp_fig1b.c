/* The remote write waits for a signal that comes after the unit: it can never come in between. */
#include <pthread.h>

#include "cleave/annotate.h"
#include "common/options.h"
#include "common/racy.h"

static RACY(int) x;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int signalled, sum;

static void *t1(void *unused) {
  CLEAVE_ATOMIC_BEGIN("t1");
  STORE(x, 1);
  int a = LOAD(x) + 1;
  CLEAVE_ATOMIC_END();
  pthread_mutex_lock(&lock);
  sum = a;
  signalled = 1;
  pthread_cond_signal(&c);
  pthread_mutex_unlock(&lock);
  return unused;
}

static void *t2(void *unused) {
  pthread_mutex_lock(&lock);
  while (!signalled) pthread_cond_wait(&c, &lock);
  pthread_mutex_unlock(&lock);
  STORE(x, 3);
  return unused;
}

int main(int argc, char **argv) {
  struct options options = read_options(argc, argv, 2, 1); /* two threads, as in the figure */
  int held = 1;
  for (unsigned i = 0; i < options.iters && held; i++) {
    pthread_t first, second;
    STORE(x, 0);
    signalled = 0;
    pthread_create(&first, NULL, t1, NULL);
    pthread_create(&second, NULL, t2, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    held = sum == 2;
  }
  return verdict(held, "T1 did not read what it wrote");
}
