/* A cache server increments an item by getting it, computing, and storing it; the item's lock is held for the parts. */
#include <pthread.h>

#include "cleave/annotate.h"
#include "common/options.h"

struct item {
  pthread_mutex_t lock;
  uint64_t value;
};
static struct item counter;
static unsigned increments;

static uint64_t item_get(struct item *item) {
  pthread_mutex_lock(&item->lock);
  uint64_t value = item->value;
  pthread_mutex_unlock(&item->lock);
  return value;
}

static void item_update(struct item *item, uint64_t value) {
  pthread_mutex_lock(&item->lock);
  item->value = value;
  pthread_mutex_unlock(&item->lock);
}

CLEAVE_ATOMIC static uint64_t add_delta(struct item *item, uint64_t delta) {
#ifdef FIXED
  pthread_mutex_lock(&item->lock);
#endif
  uint64_t value = item_get(item) + delta;
  item_update(item, value);
#ifdef FIXED
  pthread_mutex_unlock(&item->lock);
#endif
  return value;
}

static void *client(void *unused) {
  for (unsigned i = 0; i < increments; i++) add_delta(&counter, 1);
  return unused;
}

int main(int argc, char **argv) {
  struct options options = read_options(argc, argv, 2, 3);
  unsigned threads = options.threads < 16 ? options.threads : 16;
  pthread_t clients[16];
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&counter.lock, &recursive);
  increments = options.iters;
  for (unsigned i = 0; i < threads; i++) pthread_create(&clients[i], NULL, client, NULL);
  for (unsigned i = 0; i < threads; i++) pthread_join(clients[i], NULL);
  return verdict(counter.value == (uint64_t)threads * increments, "an increment was lost");
}
