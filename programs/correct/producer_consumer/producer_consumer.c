// Bounded queue with two conditions.
#include <pthread.h>
#include <stdio.h>

#define CAPACITY 2
#define ITEMS 5
#define PRODUCERS 2

struct queue {
  pthread_mutex_t mutex;
  pthread_cond_t not_full;
  pthread_cond_t not_empty;
  int items[CAPACITY];
  int head, count;
};

static struct queue queue = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .not_full = PTHREAD_COND_INITIALIZER,
    .not_empty = PTHREAD_COND_INITIALIZER,
};

static void queue_put(struct queue* q, int item) {
  pthread_mutex_lock(&q->mutex);
  while (q->count == CAPACITY) pthread_cond_wait(&q->not_full, &q->mutex);
  q->items[(q->head + q->count) % CAPACITY] = item;
  q->count++;
  pthread_cond_signal(&q->not_empty);
  pthread_mutex_unlock(&q->mutex);
}

static int queue_get(struct queue* q) {
  pthread_mutex_lock(&q->mutex);
  while (q->count == 0) pthread_cond_wait(&q->not_empty, &q->mutex);
  int item = q->items[q->head];
  q->head = (q->head + 1) % CAPACITY;
  q->count--;
  pthread_cond_signal(&q->not_full);
  pthread_mutex_unlock(&q->mutex);
  return item;
}

static void* producer(void* arg) {
  int first = *(const int*)arg;
  for (int i = 0; i < ITEMS; i++) queue_put(&queue, first + i);
  return NULL;
}

static void* consumer(void* arg) {
  long* sum = arg;
  for (int i = 0; i < ITEMS; i++) *sum += queue_get(&queue);
  return NULL;
}

int main(void) {
  pthread_t producers[PRODUCERS], consumers[PRODUCERS];
  int first[PRODUCERS];
  long sums[PRODUCERS] = {0};
  for (int i = 0; i < PRODUCERS; i++) {
    first[i] = 10 * i;
    pthread_create(&producers[i], NULL, producer, &first[i]);
    pthread_create(&consumers[i], NULL, consumer, &sums[i]);
  }
  long sum = 0;
  for (int i = 0; i < PRODUCERS; i++) {
    pthread_join(producers[i], NULL);
    pthread_join(consumers[i], NULL);
    sum += sums[i];
  }
  if (sum != 70) {
    printf("wrong: sum %ld instead of 70\n", sum);
    return 1;
  }
  printf("sum 70\n");
  return 0;
}
