/* Figure 1(b) without signal and wait: the remote write can come between the unit's write and read. */
#include <pthread.h>

#include "cleave/annotate.h"
#include "common/options.h"
#include "common/racy.h"

static RACY(int) x;
static int sum;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define LOCK() pthread_mutex_lock(&lock)
#define UNLOCK() pthread_mutex_unlock(&lock)
#else
#define LOCK() ((void)0)
#define UNLOCK() ((void)0)
#endif

static void *t1(void *unused) {
  LOCK();
  CLEAVE_ATOMIC_BEGIN("t1");
  STORE(x, 1);
  int a = LOAD(x) + 1;
  CLEAVE_ATOMIC_END();
  UNLOCK();
  sum = a;
  return unused;
}

static void *t2(void *unused) {
  LOCK();
  STORE(x, 3);
  UNLOCK();
  return unused;
}

int main(int argc, char **argv) {
  struct options options = read_options(argc, argv, 2, 1); /* two threads, as in the figure */
  int held = 1;
  for (unsigned i = 0; i < options.iters && held; i++) {
    pthread_t first, second;
    STORE(x, 0);
    pthread_create(&first, NULL, t1, NULL);
    pthread_create(&second, NULL, t2, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    held = sum == 2;
  }
  return verdict(held, "T1 did not read what it wrote");
}
