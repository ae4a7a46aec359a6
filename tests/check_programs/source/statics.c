/* Static variables of a C file are one set; its functions on a struct are units for it. No struct here: the function
 * that touches them is an additional unit. */
#include <pthread.h>

#include "steps.h"

int steps_done;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long used, limit = 10;
long seen;

static void grow(void) {
#ifdef REPAIRED
  pthread_mutex_lock(&mutex);
  used = used + 1;
  limit = limit + 1;
  pthread_mutex_unlock(&mutex);
  done();
  wait_for(2);
#else
  used = used + 1;
  done();
  wait_for(2);
  limit = limit + 1;
#endif
}

static void look(void) {
#ifdef REPAIRED
  pthread_mutex_lock(&mutex);
#endif
  seen = used + limit;
#ifdef REPAIRED
  pthread_mutex_unlock(&mutex);
#endif
}

static void *grower(void *unused) {
  (void)unused;
  grow();
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, grower, 0);
  wait_for(1);
  look();
  done();
  pthread_join(thread, 0);
  return 0;
}
