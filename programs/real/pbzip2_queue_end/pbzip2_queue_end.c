/* A compressor's main thread ends its queue when all blocks have been produced; a consumer asks whether it is the end,
 * and then takes the queue's lock, which is gone by then. The lock is only marked as gone here. */
#include <pthread.h>

#include "cleave/annotate.h"
#include "common/options.h"

struct queue {
  pthread_mutex_t state_lock; /* of this program's bookkeeping; never gone */
  int all_done;
  int lock_gone;
  unsigned blocks, uses_after_end;
};
static struct queue fifo;

static int is_end(struct queue *queue) {
  pthread_mutex_lock(&queue->state_lock);
  int end = queue->all_done;
  pthread_mutex_unlock(&queue->state_lock);
  return end;
}

static void take_block(struct queue *queue) {
  pthread_mutex_lock(&queue->state_lock);
  if (queue->lock_gone) queue->uses_after_end++;
  if (queue->blocks > 0) queue->blocks--;
  pthread_mutex_unlock(&queue->state_lock);
}

CLEAVE_ATOMIC static int consume(struct queue *queue) {
#ifdef FIXED
  pthread_mutex_lock(&queue->state_lock);
#endif
  int end = is_end(queue);
  if (!end) take_block(queue);
#ifdef FIXED
  pthread_mutex_unlock(&queue->state_lock);
#endif
  return !end;
}

CLEAVE_ATOMIC static void delete_queue(struct queue *queue) {
  pthread_mutex_lock(&queue->state_lock);
  queue->all_done = 1;
  queue->lock_gone = 1;
  pthread_mutex_unlock(&queue->state_lock);
}

static void *consumer(void *unused) {
  for (int i = 0; i < 1000 && consume(&fifo); i++) continue;
  return unused;
}

int main(int argc, char **argv) {
  struct options options = read_options(argc, argv, 2, 1);
  unsigned threads = options.threads < 8 ? options.threads : 8;
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&fifo.state_lock, &recursive);
  for (unsigned i = 0; i < options.iters && fifo.uses_after_end == 0; i++) {
    pthread_t consumers[8];
    fifo.all_done = fifo.lock_gone = 0;
    fifo.blocks = 10;
    for (unsigned k = 0; k < threads; k++) pthread_create(&consumers[k], NULL, consumer, NULL);
    delete_queue(&fifo);
    for (unsigned k = 0; k < threads; k++) pthread_join(consumers[k], NULL);
  }
  return verdict(fifo.uses_after_end == 0, "the queue was used after its end");
}
