// Reference-counted blobs that go back to a pool when the last reference is dropped.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define BLOBS 4
#define HOLDERS 3

struct blob {
  atomic_int refs;
  struct blob* next_free;
  char data[32];
};

static pthread_mutex_t pool_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct blob* pool_head;
static int pool_returns;

static void pool_return(struct blob* b) {
  pthread_mutex_lock(&pool_mutex);
  b->next_free = pool_head;
  pool_head = b;
  pool_returns++;
  pthread_mutex_unlock(&pool_mutex);
}

static void blob_get(struct blob* b) { atomic_fetch_add(&b->refs, 1); }

static void blob_put(struct blob* b) {
#ifdef FIXED
  if (atomic_fetch_sub(&b->refs, 1) == 1) pool_return(b);
#else
  atomic_fetch_sub(&b->refs, 1);
  if (atomic_load(&b->refs) == 0) pool_return(b);
#endif
}

static struct blob blobs[BLOBS];

static void* holder(void* arg) {
  (void)arg;
  for (int i = 0; i < BLOBS; i++) blob_put(&blobs[i]);
  return NULL;
}

int main(void) {
  for (int i = 0; i < BLOBS; i++)
    for (int j = 0; j < HOLDERS; j++) blob_get(&blobs[i]);
  pthread_t threads[HOLDERS];
  for (int i = 0; i < HOLDERS; i++) pthread_create(&threads[i], NULL, holder, NULL);
  for (int i = 0; i < HOLDERS; i++) pthread_join(threads[i], NULL);
  if (pool_returns != BLOBS) {
    printf("wrong: %d returns of %d blobs\n", pool_returns, BLOBS);
    return 1;
  }
  printf("%d blobs returned\n", pool_returns);
  return 0;
}
