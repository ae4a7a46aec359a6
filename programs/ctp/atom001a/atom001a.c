/* atom001 with a repair that takes no lock: the other user waits on a flag that the transaction sets when it is through.
 * There is no violation, but who looks at locks alone still sees one. */
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

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static int through;

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
  pthread_mutex_unlock(&object->lock);
  int last = LOAD(object->refcnt) == 0;
  if (last) cleanup(object);
}

static void *transaction(void *unused) {
  CLEAVE_ATOMIC_BEGIN("transaction");
  release(&cached);
  CLEAVE_ATOMIC_END();
  pthread_mutex_lock(&turn_lock);
  through = 1;
  pthread_cond_signal(&turn);
  pthread_mutex_unlock(&turn_lock);
  return unused;
}

static void *other_user(void *unused) {
  pthread_mutex_lock(&turn_lock);
  while (!through) pthread_cond_wait(&turn, &turn_lock);
  pthread_mutex_unlock(&turn_lock);
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
    through = 0;
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
