/* Read the balance under the lock, decide, write it under the lock: the function that decides is the unit, over a struct
 * (-DSTRUCT), or over a file's own state. */
#include <pthread.h>

#include "steps.h"

int steps_done;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#ifdef STRUCT
struct account {
  pthread_mutex_t lock;
  int balance;
};
static struct account joint = {PTHREAD_MUTEX_INITIALIZER, 20};

static int get_balance(struct account* account) {
  pthread_mutex_lock(&account->lock);
  int balance = account->balance;
  pthread_mutex_unlock(&account->lock);
  return balance;
}
static void set_balance(struct account* account, int balance) {
  pthread_mutex_lock(&account->lock);
  account->balance = balance;
  pthread_mutex_unlock(&account->lock);
}
#define GET() get_balance(&joint)
#define SET(value) set_balance(&joint, value)
#else
static int balance = 20;

static int get_balance(void) {
  pthread_mutex_lock(&lock);
  int found = balance;
  pthread_mutex_unlock(&lock);
  return found;
}
static void set_balance(int value) {
  pthread_mutex_lock(&lock);
  balance = value;
  pthread_mutex_unlock(&lock);
}
#define GET() get_balance()
#define SET(value) set_balance(value)
#endif

#ifdef REPAIRED
static pthread_mutex_t whole = PTHREAD_MUTEX_INITIALIZER;
#endif

static int withdraw(int amount, int first) {
  int paid = 0;
#ifdef REPAIRED
  pthread_mutex_lock(&whole);
#endif
  int found = GET();
#ifndef REPAIRED
  if (first) {
    done();
    wait_for(2);
  }
#endif
  if (amount <= found) {
    SET(found - amount);
    paid = amount;
  }
#ifdef REPAIRED
  pthread_mutex_unlock(&whole);
#endif
  return paid + 0 * first;
}

static void* other(void* nothing) {
  withdraw(10, 1);
  return nothing;
}

int main(void) {
  pthread_t thread;
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  pthread_create(&thread, 0, other, 0);
#ifndef REPAIRED
  wait_for(1);
#endif
  withdraw(15, 0);
  done();
  pthread_join(thread, 0);
  return 0;
}
