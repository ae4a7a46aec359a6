// A log that starts a new (in-memory) file when the current one is full.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define LIMIT 64
#define MAX_FILES 32

static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;
static char log_text[LIMIT * 4];
static size_t log_size;
static size_t rotated_sizes[MAX_FILES];
static int rotated;

static void rotate_locked(void) {
  if (rotated < MAX_FILES) rotated_sizes[rotated++] = log_size;
  log_size = 0;
}

#ifndef FIXED
static int log_is_full(void) {
  pthread_mutex_lock(&log_mutex);
  int full = log_size >= LIMIT;
  pthread_mutex_unlock(&log_mutex);
  return full;
}

static void log_rotate(void) {
  pthread_mutex_lock(&log_mutex);
  rotate_locked();
  pthread_mutex_unlock(&log_mutex);
}
#endif

static void log_write(const char* line) {
  size_t length = strlen(line);
#ifndef FIXED
  if (log_is_full()) log_rotate();
#endif
  pthread_mutex_lock(&log_mutex);
#ifdef FIXED
  if (log_size >= LIMIT) rotate_locked();
#endif
  if (log_size + length <= sizeof log_text) {
    memcpy(log_text + log_size, line, length);
    log_size += length;
  }
  pthread_mutex_unlock(&log_mutex);
}

static void* client(void* arg) {
  const char* name = arg;
  char line[32];
  for (int i = 0; i < 8; i++) {
    snprintf(line, sizeof line, "%s %06d\n", name, i);
    log_write(line);
  }
  return NULL;
}

int main(void) {
  static char* names[] = {"alpha", "bravo", "gamma"};
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, client, names[i]);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < rotated; i++)
    if (rotated_sizes[i] < LIMIT) {
      printf("wrong: file %d was rotated with only %zu bytes\n", i, rotated_sizes[i]);
      return 1;
    }
  printf("%d files rotated\n", rotated);
  return 0;
}
