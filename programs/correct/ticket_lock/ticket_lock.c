// Ticket lock.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

struct ticket_lock {
  atomic_uint next;
  atomic_uint serving;
};

static void ticket_lock(struct ticket_lock* l) {
  unsigned ticket = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
  while (atomic_load_explicit(&l->serving, memory_order_acquire) != ticket) sched_yield();
}

static void ticket_unlock(struct ticket_lock* l) {
  unsigned serving = atomic_load_explicit(&l->serving, memory_order_relaxed);
  atomic_store_explicit(&l->serving, serving + 1, memory_order_release);
}

static struct ticket_lock lock;
static int entries[32];
static int used;
static long checksum;

static void add_entry(int value) {
  ticket_lock(&lock);
  entries[used] = value;
  used++;
  checksum += value;
  ticket_unlock(&lock);
}

static void* worker(void* arg) {
  int base = *(const int*)arg;
  for (int i = 0; i < 4; i++) add_entry(base + i);
  return NULL;
}

int main(void) {
  pthread_t threads[3];
  int bases[3];
  for (int i = 0; i < 3; i++) {
    bases[i] = 10 * i;
    pthread_create(&threads[i], NULL, worker, &bases[i]);
  }
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  long sum = 0;
  for (int i = 0; i < used; i++) sum += entries[i];
  if (used != 12 || sum != checksum || sum != 138) {
    printf("wrong: %d entries, sum %ld\n", used, sum);
    return 1;
  }
  printf("%d entries\n", used);
  return 0;
}
