/* A list of entries behind a plain pointer: to the tool each entry is an object of its own, unless somebody says that they
 * belong to the ledger (-DHELD=CLEAVE_OWNED, or cleave.toml). */
#include <pthread.h>
#include <stdlib.h>

#include "cleave/annotate.h"
#include "steps.h"

int steps_done;

struct entry {
  int amount, checksum;
  HELD struct entry *next;
};

struct ledger {
  pthread_mutex_t mutex;
  int balance;
  HELD struct entry *entries;
};

static struct ledger shared = {PTHREAD_MUTEX_INITIALIZER, 0, 0};
int fine;

static void entry_set(struct entry *e, int amount) {
  e->amount = amount;
  e->checksum = -amount;
}

static int entry_amount(struct entry *e) { return e->checksum == -e->amount ? e->amount : 0; }

static void deposit(struct ledger *l, int amount) {
  pthread_mutex_lock(&l->mutex);
  l->balance += amount;
#ifdef REPAIRED
  entry_set(l->entries->next, amount);
  pthread_mutex_unlock(&l->mutex);
  done();
  wait_for(2);
#else
  pthread_mutex_unlock(&l->mutex);
  done();
  wait_for(2);
  pthread_mutex_lock(&l->mutex);
  entry_set(l->entries->next, amount);
  pthread_mutex_unlock(&l->mutex);
#endif
}

static int audit(struct ledger *l) {
  pthread_mutex_lock(&l->mutex);
  int same = l->balance == entry_amount(l->entries->next);
  pthread_mutex_unlock(&l->mutex);
  return same;
}

static void *depositor(void *unused) {
  (void)unused;
  deposit(&shared, 5);
  return 0;
}

int main(void) {
  shared.entries = calloc(1, sizeof(struct entry));
  shared.entries->next = calloc(1, sizeof(struct entry));
  pthread_t thread;
  pthread_create(&thread, 0, depositor, 0);
  wait_for(1);
  fine = audit(&shared);
  done();
  pthread_join(thread, 0);
  return 0;
}
