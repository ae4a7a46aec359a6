/* Two threads, one mutex, one atomic, the heap. */
#define HAND_NAME "basic.c"
#include "hand.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t counter;
static _Atomic uint64_t total;

static void *work(void *argument) {
  for (int i = 0; i < 3; ++i) {
    pthread_mutex_lock(&mutex);
    hand_write(&counter, hand_read(&counter) + 1);
    pthread_mutex_unlock(&mutex);
    hand_add(&total, 10);
  }
  return argument;
}

int main(int argc, char **argv) {
  pthread_t threads[2];
  void *volatile block = malloc(48);
  free(block);
  for (int i = 0; i < 2; ++i) CHECK(pthread_create(&threads[i], NULL, work, &threads[i]) == 0);
  for (int i = 0; i < 2; ++i) {
    void *result;
    CHECK(pthread_join(threads[i], &result) == 0 && result == &threads[i]);
  }
  CHECK(counter == 6 && total == 60);
  return argc > 1 ? atoi(argv[1]) : 0;
}
