/* A worker queue: T1 changes its item without a lock, then puts the item's address into the queue; T2 takes it out and
 * changes it. T2's write can never come between T1's read and write: it does not have the address yet. */
#include <pthread.h>

#include "cleave/annotate.h"
#include "common/options.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int *queue[4];
static int queue_index;
static int item;

static void *t1(void *unused) {
  CLEAVE_ATOMIC_BEGIN("increment");
  item = item + 1;
  CLEAVE_ATOMIC_END();
  pthread_mutex_lock(&lock);
  queue[queue_index++] = &item;
  pthread_cond_signal(&filled);
  pthread_mutex_unlock(&lock);
  return unused;
}

static void *t2(void *unused) {
  pthread_mutex_lock(&lock);
  while (queue_index == 0) pthread_cond_wait(&filled, &lock);
  int *taken = queue[--queue_index];
  pthread_mutex_unlock(&lock);
  *taken = 2;
  return unused;
}

int main(int argc, char **argv) {
  struct options options = read_options(argc, argv, 2, 1); /* two threads, as in the figure */
  int held = 1;
  for (unsigned i = 0; i < options.iters && held; i++) {
    pthread_t first, second;
    item = 0;
    pthread_create(&first, NULL, t1, NULL);
    pthread_create(&second, NULL, t2, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    held = item == 2;
  }
  return verdict(held, "T2's write was overwritten");
}
