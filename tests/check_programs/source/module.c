/* A C file takes the part of a class for its static variables, and its functions that other files may call the part of public
 * methods. Who only calls them is none of these, nor is the routine of a thread. */
#include <pthread.h>

#include "steps.h"

int steps_done;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int used, entries[8];

void add(int value) {
  pthread_mutex_lock(&mutex);
  int slot = used++;
#ifndef REPAIRED
  pthread_mutex_unlock(&mutex);
  done();
  wait_for(2);
  pthread_mutex_lock(&mutex);
#endif
  entries[slot] = value;
  pthread_mutex_unlock(&mutex);
}

void clear(void) {
  pthread_mutex_lock(&mutex);
  used = 0;
  for (int i = 0; i < 8; ++i) entries[i] = 0;
  pthread_mutex_unlock(&mutex);
}

int at(int slot) {
  pthread_mutex_lock(&mutex);
  int value = entries[slot];
  pthread_mutex_unlock(&mutex);
  return value;
}

void drive(void) {
  add(1);
#ifdef REPAIRED
  done();
  wait_for(2);
#endif
  add(2);
}

void *worker(void *unused) {
  drive();
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  wait_for(1);
  clear();
  done();
  pthread_join(thread, 0);
  return at(0) > 2;
}
