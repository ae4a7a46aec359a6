/* A cached object is released in two steps: the count goes down under the lock, but whether it reached zero is asked
 * after the lock was given back. Two releases may both see zero and both clean up. */
#include <pthread.h>

#include "cleave/annotate.h"
#include "common/options.h"
#include "common/racy.h"

struct object {
  pthread_mutex_t lock;
  RACY(int) refcnt;
  int cleanups;
};
static struct object cached = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void acquire(struct object *object) {
  pthread_mutex_lock(&object->lock);
  STORE(object->refcnt, LOAD(object->refcnt) + 1);
  pthread_mutex_unlock(&object->lock);
}

static void cleanup(struct object *object) {
  pthread_mutex_lock(&object->lock);
  object->cleanups++;
  pthread_mutex_unlock(&object->lock);
}

static void release(struct object *object) {
  pthread_mutex_lock(&object->lock);
  STORE(object->refcnt, LOAD(object->refcnt) - 1);
#ifdef FIXED
  int last = LOAD(object->refcnt) == 0;
  pthread_mutex_unlock(&object->lock);
#else
  pthread_mutex_unlock(&object->lock);
  int last = LOAD(object->refcnt) == 0;
#endif
  if (last) cleanup(object);
}

static void *transaction(void *unused) {
  CLEAVE_ATOMIC_BEGIN("transaction");
  release(&cached);
  CLEAVE_ATOMIC_END();
  return unused;
}

static void *other_user(void *unused) {
  release(&cached);
  return unused;
}

int main(int argc, char **argv) {
  struct options options = read_options(argc, argv, 2, 1); /* two users, as in the report */
  int held = 1;
  for (unsigned i = 0; i < options.iters && held; i++) {
    pthread_t first, second;
    STORE(cached.refcnt, 0);
    cached.cleanups = 0;
    acquire(&cached);
    acquire(&cached);
    pthread_create(&first, NULL, transaction, NULL);
    pthread_create(&second, NULL, other_user, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    held = cached.cleanups == 1;
  }
  return verdict(held, "the object was cleaned up twice");
}
