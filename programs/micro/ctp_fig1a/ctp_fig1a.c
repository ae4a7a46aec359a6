/* Only who saw the unit's write writes: the write can never come in between. Lock-based and causal models report it. */
#include <pthread.h>

#include "cleave/annotate.h"
#include "common/options.h"
#include "common/racy.h"

static RACY(int) x;

static void *t1(void *unused) {
  CLEAVE_ATOMIC_BEGIN("t1");
  int a = LOAD(x);
  STORE(x, a + 1);
  CLEAVE_ATOMIC_END();
  return unused;
}

static void *t2(void *unused) {
  int b = LOAD(x);
  if (b > 0) STORE(x, 5);
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
    held = LOAD(x) == 1 || LOAD(x) == 5;
  }
  return verdict(held, "x is neither 1 nor 5");
}
