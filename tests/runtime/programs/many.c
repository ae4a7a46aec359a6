/* Many threads: many LIVE ROUNDS; LIVE of them at once, ROUNDS times. */
#define HAND_NAME "many.c"
#include "hand.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t counter;

static void *work(void *argument) {
  pthread_mutex_lock(&mutex);
  hand_write(&counter, hand_read(&counter) + 1);
  pthread_mutex_unlock(&mutex);
  return argument;
}

int main(int argc, char **argv) {
  CHECK(argc == 3);
  int live = atoi(argv[1]), rounds = atoi(argv[2]);
  pthread_t *threads = calloc((size_t)live, sizeof *threads);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 * 1024);
  for (int round = 0; round < rounds; ++round) {
    pthread_mutex_lock(&mutex);  /* all are there before the first goes on */
    for (int i = 0; i < live; ++i) CHECK(pthread_create(&threads[i], &attributes, work, NULL) == 0);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < live; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  }
  CHECK(counter == (uint64_t)live * (uint64_t)rounds);
  FILE *status = fopen("/proc/self/status", "r");
  char line[200];
  while (fgets(line, sizeof line, status) != NULL)
    if (strncmp(line, "VmHWM", 5) == 0) fputs(line, stderr);
  free(threads);
  return 0;
}
