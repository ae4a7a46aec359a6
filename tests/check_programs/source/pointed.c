/* An account that points to its state: functions whose first parameter is the account's are units on the state too. With
 * -DARRAY the state is an array of numbers. */
#include <pthread.h>
#include <stdlib.h>

#include "steps.h"

int steps_done;

struct state {
  int balance, withdrawals;
};

struct account {
  pthread_mutex_t mutex;
  struct state *state;
  int *numbers;
};

static struct account shared = {PTHREAD_MUTEX_INITIALIZER, 0, 0};

#ifdef ARRAY
#define BALANCE(a) (a)->numbers[3]
#else
#define BALANCE(a) (a)->state->balance
#endif

static int take(struct account *a, int amount) {
  int enough;
  pthread_mutex_lock(&a->mutex);
  enough = BALANCE(a) >= amount;
#ifndef REPAIRED
  pthread_mutex_unlock(&a->mutex);
  done();
  wait_for(2);
  pthread_mutex_lock(&a->mutex);
#endif
  if (enough) BALANCE(a) -= amount;
  pthread_mutex_unlock(&a->mutex);
#ifdef REPAIRED
  done();
  wait_for(2);
#endif
  return enough;
}

static void put(struct account *a, int amount) {
  pthread_mutex_lock(&a->mutex);
  BALANCE(a) += amount;
  pthread_mutex_unlock(&a->mutex);
}

static void *taker(void *unused) {
  (void)unused;
  take(&shared, 2);
  return 0;
}

int main(void) {
  pthread_t thread;
  shared.state = calloc(1, sizeof(struct state));
  shared.numbers = calloc(8, sizeof(int));
  put(&shared, 100);
  BALANCE(&shared) = 50; /* as long as there is one thread, nobody counts as another one */
  pthread_create(&thread, 0, taker, 0);
  wait_for(1);
  put(&shared, 1);
  done();
  pthread_join(thread, 0);
  return 0;
}
