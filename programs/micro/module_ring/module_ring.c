/* A ring buffer in C, one for the whole module: every function is given its address, which the compiler therefore knows.
 * The sum of what is in the ring is kept beside it, in another critical section. */
#include <pthread.h>

#include "common/options.h"

enum { slots = 8 };
struct ring {
  pthread_mutex_t lock;
  unsigned head, tail;
  int slot[slots];
  long sum; /* of what is in the ring */
};
static struct ring the_ring = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct options options;

static void ring_push(struct ring *ring, int value) {
  pthread_mutex_lock(&ring->lock);
  int room = ring->head - ring->tail < slots;
  if (room) ring->slot[ring->head++ % slots] = value;
#ifndef FIXED
  pthread_mutex_unlock(&ring->lock);
  pthread_mutex_lock(&ring->lock);
#endif
  if (room) ring->sum += value;
  pthread_mutex_unlock(&ring->lock);
}

static void ring_pop(struct ring *ring) {
  pthread_mutex_lock(&ring->lock);
  if (ring->head != ring->tail) ring->sum -= ring->slot[ring->tail++ % slots];
  pthread_mutex_unlock(&ring->lock);
}

static int ring_sum_is_right(struct ring *ring) {
  long sum = 0;
  pthread_mutex_lock(&ring->lock);
  for (unsigned i = ring->tail; i != ring->head; i++) sum += ring->slot[i % slots];
  int right = sum == ring->sum;
  pthread_mutex_unlock(&ring->lock);
  return right;
}

static void *producer(void *number) {
  for (unsigned i = 0; i < options.iters; i++) ring_push(&the_ring, 1 + *(int *)number);
  return NULL;
}

static void *consumer(void *wrong) {
  for (unsigned i = 0; i < 2 * options.iters; i++) {
    if (!ring_sum_is_right(&the_ring)) ++*(int *)wrong;
    ring_pop(&the_ring);
  }
  return NULL;
}

int main(int argc, char **argv) {
  options = read_options(argc, argv, 3, 3); /* two producers and a consumer, whatever --threads says */
  pthread_t threads[3];
  int numbers[2] = {0, 1}, wrong = 0;
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, producer, &numbers[i]);
  pthread_create(&threads[2], NULL, consumer, &wrong);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  return verdict(wrong == 0, "the sum is not that of the ring");
}
