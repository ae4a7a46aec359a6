/* The variant of figure 1(a) whose guard holds in both worlds: a real violation, which models that keep every read's
 * value cannot see. */
#include <pthread.h>

#include "cleave/annotate.h"
#include "common/options.h"
#include "common/racy.h"

static RACY(int) x;
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
  int a = LOAD(x);
  STORE(x, a + 1);
  CLEAVE_ATOMIC_END();
  UNLOCK();
  return unused;
}

static void *t2(void *unused) {
  LOCK();
  int b = LOAD(x);
  if (b >= 0) STORE(x, 5);
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
    held = LOAD(x) == 5 || LOAD(x) == 6;
  }
  return verdict(held, "T2's write was lost");
}
