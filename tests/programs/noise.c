/* Preloaded into a program of the suite, makes threads hesitate around their locks, so that bugs between two critical
 * sections show natively. Takes no lock and touches nothing that the program can see. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <time.h>

static __thread uint64_t state;

static void hesitate(void) {
  if (state == 0) state = (uint64_t)(uintptr_t)&state ^ (uint64_t)time(NULL);
  state = state * 6364136223846793005u + 1442695040888963407u;
  unsigned choice = (unsigned)(state >> 59);
  if (choice < 8) sched_yield();
  if (choice == 8) {
    struct timespec pause = {0, 20000};
    nanosleep(&pause, NULL);
  }
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
  static int (*next)(pthread_mutex_t *);
  if (!next) next = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
  hesitate();
  return next(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
  static int (*next)(pthread_mutex_t *);
  if (!next) next = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_unlock");
  int result = next(mutex);
  hesitate();
  return result;
}
