/* bank-av with half a repair: while a deposit into an account is under way, its owner's change waits on a condition
 * variable. The deposit is no longer split, but it can still fall between the owner's own look, change and look. */
#include <pthread.h>

#include "cleave/annotate.h"
#include "common/options.h"

enum { kMost = 64, kOpening = 100 };
struct account {
  pthread_mutex_t lock;
  int balance;
  pthread_mutex_t guard; /* of `depositing` */
  pthread_cond_t deposited;
  int depositing;
};
struct teller {
  pthread_mutex_t desk; /* held around every step at the counter: the locks nest */
  struct account *from, *to;
  int amount, surprises;
  pthread_t thread;
};
static struct account accounts[kMost];
static struct teller tellers[kMost];
#ifdef FIXED
static pthread_mutex_t bank_lock = PTHREAD_MUTEX_INITIALIZER;
#endif

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

static void announce_deposit(struct account *account) {
  pthread_mutex_lock(&account->guard);
  account->depositing = 1;
  pthread_mutex_unlock(&account->guard);
}

/* Both return whether the balance was not what was just written. */
static int deposit(struct account *account, int amount, pthread_mutex_t *desk) {
  int balance = look(account, desk) + amount;
  change(account, balance, desk);
  int surprise = look(account, desk) != balance;
  pthread_mutex_lock(&account->guard);
  account->depositing = 0;
  pthread_cond_signal(&account->deposited);
  pthread_mutex_unlock(&account->guard);
  return surprise;
}

static int withdraw(struct account *account, int amount, pthread_mutex_t *desk) {
  int balance = look(account, desk) - amount;
  pthread_mutex_lock(&account->guard);
  while (account->depositing) pthread_cond_wait(&account->deposited, &account->guard);
  change(account, balance, desk);
  pthread_mutex_unlock(&account->guard);
  return look(account, desk) != balance;
}

static void *transfer(void *argument) {
  struct teller *teller = argument;
  struct account *from = teller->from, *to = teller->to;
  int amount = teller->amount;
#ifdef FIXED
  pthread_mutex_lock(&bank_lock);
#endif
  announce_deposit(to);
  CLEAVE_ATOMIC_BEGIN("transfer");
  int surprises = deposit(to, amount, &teller->desk);
  surprises += withdraw(from, amount, &teller->desk);
  CLEAVE_ATOMIC_END();
#ifdef FIXED
  pthread_mutex_unlock(&bank_lock);
#endif
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
    pthread_mutex_init(&accounts[i].guard, NULL);
    pthread_cond_init(&accounts[i].deposited, NULL);
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
