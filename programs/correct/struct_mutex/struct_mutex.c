// Thermostats that carry their own lock.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct thermostat {
  pthread_mutex_t lock;
  int target;
  int actual;
  int heating;
};

static void thermostat_init(struct thermostat* t, int target) {
  pthread_mutex_init(&t->lock, NULL);
  t->target = target;
  t->actual = 0;
  t->heating = 0;
}

static void decide(struct thermostat* t) { t->heating = t->actual < t->target; }

static void thermostat_set(struct thermostat* t, int target) {
  pthread_mutex_lock(&t->lock);
  t->target = target;
  decide(t);
  pthread_mutex_unlock(&t->lock);
}

static void thermostat_measure(struct thermostat* t, int change) {
  pthread_mutex_lock(&t->lock);
  t->actual += change;
  decide(t);
  pthread_mutex_unlock(&t->lock);
}

static int thermostat_consistent(struct thermostat* t) {
  pthread_mutex_lock(&t->lock);
  int ok = t->heating == (t->actual < t->target);
  pthread_mutex_unlock(&t->lock);
  return ok;
}

#define ROOMS 2

static void* measure(void* arg) {
  struct thermostat* rooms = arg;
  for (int i = 0; i < 5; i++)
    for (int r = 0; r < ROOMS; r++) thermostat_measure(&rooms[r], r + 1);
  return NULL;
}

static void* control(void* arg) {
  struct thermostat* rooms = arg;
  for (int target = 3; target < 8; target += 2)
    for (int r = 0; r < ROOMS; r++) thermostat_set(&rooms[r], target);
  return NULL;
}

static void* watch(void* arg) {
  struct thermostat* rooms = arg;
  for (int i = 0; i < 4; i++)
    for (int r = 0; r < ROOMS; r++)
      if (!thermostat_consistent(&rooms[r])) {
        printf("wrong: heating in room %d\n", r);
        exit(1);
      }
  return NULL;
}

int main(void) {
  struct thermostat rooms[ROOMS];
  for (int r = 0; r < ROOMS; r++) {
    thermostat_init(&rooms[r], 0);
  }
  void* (*roles[])(void*) = {measure, control, watch};
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, roles[i], rooms);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  for (int r = 0; r < ROOMS; r++) pthread_mutex_destroy(&rooms[r].lock);
  if (rooms[0].actual != 5 || rooms[1].actual != 10 || !rooms[0].heating || rooms[1].heating) {
    printf("wrong: %d and %d degrees\n", rooms[0].actual, rooms[1].actual);
    return 1;
  }
  printf("5 and 10 degrees\n");
  return 0;
}
