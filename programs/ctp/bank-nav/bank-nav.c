/* bank-av repaired: a transfer is made under a transaction lock that is built from a flag, a mutex and a condition
 * variable. No transfer is split, yet no mutex is held throughout one: only the data show that it is right. */
#include <pthread.h>

#include "cleave/annotate.h"
#include "common/options.h"

enum { kMost = 64, kOpening = 100 };
struct account {
  pthread_mutex_t lock;
  int balance;
};
struct teller {
  pthread_mutex_t desk; /* held around every step at the counter: the locks nest */
  struct account *from, *to;
  int amount, surprises;
  pthread_t thread;
};
static struct account accounts[kMost];
static struct teller tellers[kMost];

/* The transaction lock. */
static pthread_mutex_t busy_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_busy = PTHREAD_COND_INITIALIZER;
static int busy;

static void begin_transaction(void) {
  pthread_mutex_lock(&busy_lock);
  while (busy) pthread_cond_wait(&not_busy, &busy_lock);
  busy = 1;
  pthread_mutex_unlock(&busy_lock);
}

static void end_transaction(void) {
  pthread_mutex_lock(&busy_lock);
  busy = 0;
  pthread_cond_signal(&not_busy);
  pthread_mutex_unlock(&busy_lock);
}

static int look(struct account *account, pthread_mutex_t *desk) {
  pthread_mutex_lock(desk);
  pthread_mutex_lock(&account->lock);
  int balance = account->balance;
  pthread_mutex_unlock(&account->lock);
  pthread_mutex_unlock(desk);
  return balance;
}

static void change(struct account *account, int balance, pthread_mutex_t *desk) {
  pthread_mutex_lock(desk);
  pthread_mutex_lock(&account->lock);
  account->balance = balance;
  pthread_mutex_unlock(&account->lock);
  pthread_mutex_unlock(desk);
}

/* Returns whether the balance was not what was just written. */
static int add(struct account *account, int amount, pthread_mutex_t *desk) {
  int balance = look(account, desk) + amount;
  change(account, balance, desk);
  return look(account, desk) != balance;
}

static void *transfer(void *argument) {
  struct teller *teller = argument;
  struct account *from = teller->from, *to = teller->to;
  int amount = teller->amount;
  begin_transaction();
  CLEAVE_ATOMIC_BEGIN("transfer");
  int surprises = add(from, -amount, &teller->desk);
  surprises += add(to, amount, &teller->desk);
  CLEAVE_ATOMIC_END();
  end_transaction();
  teller->surprises = surprises;
  return NULL;
}

static void open_accounts(unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    accounts[i].balance = 0;
    change(&accounts[i], kOpening, &tellers[i].desk);
    tellers[i].from = &accounts[i];
    tellers[i].to = &accounts[(i + 1) % count];
    tellers[i].amount = (int)i + 1;
  }
}

int main(int argc, char **argv) {
  struct options options = read_options(argc, argv, 2, 1);
  unsigned count = options.threads < 2 ? 2 : options.threads > kMost ? kMost : options.threads;
  for (unsigned i = 0; i < count; i++) {
    pthread_mutex_init(&accounts[i].lock, NULL);
    pthread_mutex_init(&tellers[i].desk, NULL);
  }
  int held = 1;
  for (unsigned round = 0; round < options.iters && held; round++) {
    int total = 0;
    open_accounts(count);
    for (unsigned i = 0; i < count; i++) pthread_create(&tellers[i].thread, NULL, transfer, &tellers[i]);
    for (unsigned i = 0; i < count; i++) pthread_join(tellers[i].thread, NULL);
    for (unsigned i = 0; i < count; i++) {
      total += accounts[i].balance;
      held = held && tellers[i].surprises == 0;
    }
    held = held && total == (int)count * kOpening;
  }
  return verdict(held, "money appeared, vanished, or was not what a teller had just written");
}
