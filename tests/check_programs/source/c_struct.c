/* A C struct, and functions whose first parameter points to it. There is one account, which the optimiser knows: the
 * functions are compiled for it alone. */
#include <pthread.h>

#include "steps.h"

int steps_done;

struct account {
  pthread_mutex_t mutex;
  long checking, savings;
};

static struct account shared = {PTHREAD_MUTEX_INITIALIZER, 100, 100};
long seen;

static void transfer(struct account *a, long amount) {
  pthread_mutex_lock(&a->mutex);
  a->checking -= amount;
#ifdef REPAIRED
  a->savings += amount;
  pthread_mutex_unlock(&a->mutex);
  done();
  wait_for(2);
#else
  pthread_mutex_unlock(&a->mutex);
  done();
  wait_for(2);
  pthread_mutex_lock(&a->mutex);
  a->savings += amount;
  pthread_mutex_unlock(&a->mutex);
#endif
}

static long total(struct account *a) {
  pthread_mutex_lock(&a->mutex);
  long sum = a->checking + a->savings;
  pthread_mutex_unlock(&a->mutex);
  return sum;
}

static void *mover(void *unused) {
  (void)unused;
  transfer(&shared, 10);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, mover, 0);
  wait_for(1);
  seen = total(&shared);
  done();
  pthread_join(thread, 0);
  return 0;
}
