// Prefix sums in phases with a pthread barrier.
#include <pthread.h>
#include <stdio.h>

#define THREADS 3
#define PART 4

static int data[THREADS * PART];
static int part_sum[THREADS];
static pthread_barrier_t barrier;

static void* worker(void* arg) {
  int me = *(const int*)arg;
  int* part = data + me * PART;
  for (int i = 1; i < PART; i++) part[i] += part[i - 1];
  part_sum[me] = part[PART - 1];
  pthread_barrier_wait(&barrier);
  int before = 0;
  for (int i = 0; i < me; i++) before += part_sum[i];
  for (int i = 0; i < PART; i++) part[i] += before;
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  int index[THREADS];
  for (int i = 0; i < THREADS * PART; i++) data[i] = i + 1;
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (int i = 0; i < THREADS; i++) {
    index[i] = i;
    pthread_create(&threads[i], NULL, worker, &index[i]);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&barrier);
  for (int i = 0; i < THREADS * PART; i++)
    if (data[i] != (i + 1) * (i + 2) / 2) {
      printf("wrong: sum %d is %d\n", i, data[i]);
      return 1;
    }
  printf("%d prefix sums\n", THREADS * PART);
  return 0;
}
