/* The allocation vector in the style of the original: module state and free functions, no object in sight. A free block
 * is found, and then marked, under the same lock but not under one hold of it. */
#include <pthread.h>

#include "cleave/annotate.h"
#include "common/options.h"

enum { kBlocks = 256, kMost = 64 };
static pthread_mutex_t vector_lock;
static char blocks[kBlocks];
static unsigned block_count;
static int errors;

static int free_block_index(uint64_t *random) {
  pthread_mutex_lock(&vector_lock);
  int found = -1;
  unsigned start = (unsigned)(next_random(random) % block_count);
  for (unsigned step = 0; step < block_count && found < 0; step++)
    if (blocks[(start + step) % block_count] == 0) found = (int)((start + step) % block_count);
  pthread_mutex_unlock(&vector_lock);
  return found;
}

static void mark(int index, char as) {
  pthread_mutex_lock(&vector_lock);
  if (blocks[index] == as) errors++;
  blocks[index] = as;
  pthread_mutex_unlock(&vector_lock);
}

CLEAVE_ATOMIC static int allocate(uint64_t *random) {
#ifdef FIXED
  pthread_mutex_lock(&vector_lock);
#endif
  int index = free_block_index(random);
  if (index >= 0) mark(index, 1);
#ifdef FIXED
  pthread_mutex_unlock(&vector_lock);
#endif
  return index;
}

struct user {
  pthread_t thread;
  uint64_t random;
  unsigned count;
};

static void *use_blocks(void *argument) {
  struct user *user = argument;
  int mine[kMost];
  unsigned count = user->count < kMost ? user->count : kMost, got = 0;
  for (unsigned i = 0; i < count; i++) {
    int index = allocate(&user->random);
    if (index >= 0) mine[got++] = index;
  }
  for (unsigned i = 0; i < got; i++) mark(mine[i], 0);
  return NULL;
}

int main(int argc, char **argv) {
  struct options options = read_options(argc, argv, 2, 8);
  struct user users[8];
  unsigned threads = options.threads < 8 ? options.threads : 8;
  unsigned rounds = (unsigned)option_number(argc, argv, "--rounds", 1);
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&vector_lock, &recursive);
  block_count = threads * options.iters < kBlocks ? threads * options.iters : kBlocks;
  if (block_count == 0) block_count = 1;
  for (unsigned round = 0; round < rounds; round++) {
    for (unsigned i = 0; i < threads; i++) {
      users[i].random = options.seed + 100 * round + i;
      users[i].count = options.iters;
      pthread_create(&users[i].thread, NULL, use_blocks, &users[i]);
    }
    for (unsigned i = 0; i < threads; i++) pthread_join(users[i].thread, NULL);
  }
  return verdict(errors == 0, "a block was given to two threads");
}
