// Two producers and a consumer on a small ring buffer.
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>

#define CAPACITY 2
#define PRODUCERS 2
#define ITEMS 4

struct ring {
  pthread_mutex_t mutex;
  int items[CAPACITY];
  unsigned head;
  unsigned count;
  unsigned dropped;
};

static struct ring ring = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static bool ring_full(struct ring* r) {
  pthread_mutex_lock(&r->mutex);
  bool full = r->count == CAPACITY;
  pthread_mutex_unlock(&r->mutex);
  return full;
}

// Returns false if there was no room, in which case the oldest element is gone.
static bool ring_put(struct ring* r, int item) {
  bool room = true;
  pthread_mutex_lock(&r->mutex);
#ifdef FIXED
  if (r->count == CAPACITY) {
    pthread_mutex_unlock(&r->mutex);
    return false;
  }
#endif
  if (r->count == CAPACITY) {
    r->head = (r->head + 1) % CAPACITY;
    r->count--;
    r->dropped++;
    room = false;
  }
  r->items[(r->head + r->count) % CAPACITY] = item;
  r->count++;
  pthread_mutex_unlock(&r->mutex);
  return room;
}

static bool ring_get(struct ring* r, int* item) {
  bool any = false;
  pthread_mutex_lock(&r->mutex);
  if (r->count > 0) {
    *item = r->items[r->head];
    r->head = (r->head + 1) % CAPACITY;
    r->count--;
    any = true;
  }
  pthread_mutex_unlock(&r->mutex);
  return any;
}

static bool produce(struct ring* r, int item) {
  if (ring_full(r)) return false;
#ifdef FIXED
  return ring_put(r, item);
#else
  ring_put(r, item);
  return true;
#endif
}

static void* producer(void* arg) {
  int first = *(int*)arg;
  for (int i = 0; i < ITEMS; i++)
    for (int tries = 0; tries < 50 && !produce(&ring, first + i); tries++) sched_yield();
  return NULL;
}

static void* consumer(void* arg) {
  int* seen = arg;
  int item;
  for (int i = 0; i < 12; i++) {
    if (ring_get(&ring, &item)) *seen += 1;
    sched_yield();
  }
  return NULL;
}

int main(void) {
  pthread_t threads[PRODUCERS + 1];
  int first[PRODUCERS];
  int seen = 0;
  pthread_create(&threads[PRODUCERS], NULL, consumer, &seen);
  for (int i = 0; i < PRODUCERS; i++) {
    first[i] = 100 * i;
    pthread_create(&threads[i], NULL, producer, &first[i]);
  }
  for (int i = 0; i <= PRODUCERS; i++) pthread_join(threads[i], NULL);
  if (ring.dropped > 0) {
    printf("wrong: %u elements were overwritten\n", ring.dropped);
    return 1;
  }
  printf("%d elements consumed, %u left\n", seen, ring.count);
  return 0;
}
