// A cache under a reader-writer lock.
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#define KEYS 4

struct cache {
  pthread_rwlock_t lock;
  bool filled[KEYS];
  long values[KEYS];
  int fills[KEYS];
};

static struct cache cache = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static long compute(int key) {
  long value = 1;
  for (int i = 0; i < 5; i++) value = value * 7 + key;
  return value;
}

static long cache_lookup(struct cache* c, int key) {
  long value;
  pthread_rwlock_rdlock(&c->lock);
  bool filled = c->filled[key];
  value = c->values[key];
  pthread_rwlock_unlock(&c->lock);
  if (filled) return value;

  pthread_rwlock_wrlock(&c->lock);
#ifdef FIXED
  if (!c->filled[key]) {
    c->values[key] = compute(key);
    c->filled[key] = true;
    c->fills[key]++;
  }
#else
  c->values[key] = compute(key);
  c->filled[key] = true;
  c->fills[key]++;
#endif
  value = c->values[key];
  pthread_rwlock_unlock(&c->lock);
  return value;
}

struct reader {
  pthread_t thread;
  long sum;
};

static void* read_all(void* arg) {
  struct reader* r = arg;
  for (int round = 0; round < 2; round++)
    for (int key = 0; key < KEYS; key++) r->sum += cache_lookup(&cache, key);
  return NULL;
}

int main(void) {
  struct reader readers[3] = {0};
  for (int i = 0; i < 3; i++) pthread_create(&readers[i].thread, NULL, read_all, &readers[i]);
  for (int i = 0; i < 3; i++) pthread_join(readers[i].thread, NULL);
  for (int key = 0; key < KEYS; key++)
    if (cache.fills[key] != 1) {
      printf("wrong: key %d was filled %d times\n", key, cache.fills[key]);
      return 1;
    }
  if (readers[0].sum != readers[1].sum || readers[1].sum != readers[2].sum) {
    printf("wrong: the sums differ\n");
    return 1;
  }
  printf("sum %ld\n", readers[0].sum);
  return 0;
}
