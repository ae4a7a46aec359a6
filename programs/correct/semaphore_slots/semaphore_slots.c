// Parking lot with POSIX semaphores.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

#define PLACES 2
#define CARS 4

static sem_t places;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int occupied[PLACES];
static int inside, most, visits;

static int park(int car) {
  sem_wait(&places);
  pthread_mutex_lock(&mutex);
  int place = 0;
  while (occupied[place]) place++;
  occupied[place] = car;
  inside++;
  visits++;
  if (inside > most) most = inside;
  pthread_mutex_unlock(&mutex);
  return place;
}

static void leave(int place) {
  pthread_mutex_lock(&mutex);
  occupied[place] = 0;
  inside--;
  pthread_mutex_unlock(&mutex);
  sem_post(&places);
}

static void* drive(void* arg) {
  int car = *(const int*)arg;
  for (int i = 0; i < 2; i++) leave(park(car));
  return NULL;
}

int main(void) {
  pthread_t threads[CARS];
  int cars[CARS];
  sem_init(&places, 0, PLACES);
  for (int i = 0; i < CARS; i++) {
    cars[i] = i + 1;
    pthread_create(&threads[i], NULL, drive, &cars[i]);
  }
  for (int i = 0; i < CARS; i++) pthread_join(threads[i], NULL);
  sem_destroy(&places);
  if (visits != 2 * CARS || inside != 0 || most > PLACES) {
    printf("wrong: %d visits, %d inside, at most %d\n", visits, inside, most);
    return 1;
  }
  printf("%d visits\n", visits);
  return 0;
}
