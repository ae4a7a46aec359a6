// Cash machines that share one account.
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct account {
  pthread_mutex_t lock;
  long balance;
};

static struct account* account_open(long balance) {
  struct account* a = malloc(sizeof *a);
  if (!a) abort();
  pthread_mutex_init(&a->lock, NULL);
  a->balance = balance;
  return a;
}

static void account_close(struct account* a) {
  pthread_mutex_destroy(&a->lock);
  free(a);
}

static long account_balance(struct account* a) {
  pthread_mutex_lock(&a->lock);
  long balance = a->balance;
  pthread_mutex_unlock(&a->lock);
  return balance;
}

#ifdef FIXED
static bool withdraw(struct account* a, long amount) {
  pthread_mutex_lock(&a->lock);
  bool enough = a->balance >= amount;
  if (enough) a->balance -= amount;
  pthread_mutex_unlock(&a->lock);
  return enough;
}
#else
static void account_debit(struct account* a, long amount) {
  pthread_mutex_lock(&a->lock);
  a->balance -= amount;
  pthread_mutex_unlock(&a->lock);
}

static bool withdraw(struct account* a, long amount) {
  if (account_balance(a) < amount) return false;
  account_debit(a, amount);
  return true;
}
#endif

static void* machine(void* arg) {
  struct account* a = arg;
  for (int i = 0; i < 3; i++) withdraw(a, 40);
  return NULL;
}

int main(void) {
  struct account* a = account_open(100);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, machine, a);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  long left = account_balance(a);
  account_close(a);
  if (left < 0) {
    printf("wrong: the balance is %ld\n", left);
    return 1;
  }
  printf("balance %ld\n", left);
  return 0;
}
