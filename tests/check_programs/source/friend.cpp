// A friend that holds an account and shows its insides one at a time: who uses it is a unit for the account,
// as with an iterator. With -DREPAIRED the friend does it all in one section. With -DLOOP every use is a
// round of its own.
#include <mutex>
#include <thread>

#include "steps.h"

int steps_done;

class Account {
 public:
  void close() {
    std::lock_guard<std::mutex> guard(mutex_);
    open_ = false;
    balance_ = 0;
  }

 private:
  friend class Clerk;
  std::mutex mutex_;
  bool open_ = true;
  int balance_ = 7;
};

class Clerk {
 public:
  explicit Clerk(Account& account) : account_(account) {}
  bool is_open() {
    std::lock_guard<std::mutex> guard(account_.mutex_);
    return account_.open_;
  }
  int balance() {
    std::lock_guard<std::mutex> guard(account_.mutex_);
    return account_.balance_;
  }
  int look() {
    std::lock_guard<std::mutex> guard(account_.mutex_);
    return account_.open_ ? account_.balance_ : -1;
  }

 private:
  Account& account_;
};

Account account;
int seen;

int report(Clerk& clerk) {
#if defined(REPAIRED)
  int balance = clerk.look();
  done();
  wait_for(2);
  return balance;
#elif defined(LOOP)
  int balance = 0;
  for (int round = 0; round < 2; ++round) {
    if (round == 0) clerk.is_open();
    if (round == 1) {
      done();
      wait_for(2);
      balance = clerk.balance();
    }
  }
  return balance;
#else
  if (!clerk.is_open()) return -1;
  done();
  wait_for(2);
  return clerk.balance();
#endif
}

int main() {
  std::thread reader([] {
    Clerk clerk(account);
    seen = report(clerk);
  });
  wait_for(1);
  account.close();
  done();
  reader.join();
}
