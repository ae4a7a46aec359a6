// A ring of accounts, each with its own lock. A transfer holds the lock of the account it takes from, and changes the
// other one without that account's lock.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Account {
 public:
  CLEAVE_ATOMIC void deposit(int money) {
    std::lock_guard lock(mutex_);
    amount_ = amount_ + money;
  }
  CLEAVE_ATOMIC void withdraw(int money) {
    std::lock_guard lock(mutex_);
    amount_ = amount_ - money;
  }
  CLEAVE_ATOMIC void transfer(Account& other, int money) {
#ifdef FIXED
    std::scoped_lock lock(mutex_, other.mutex_);
#else
    std::lock_guard lock(mutex_);
#endif
    amount_ = amount_ - money;
    other.amount_ = other.amount_ + money;
  }
  int amount() const { return amount_; }

 private:
  std::mutex mutex_;
  Racy<int> amount_ = 100;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 5, 1);
  unsigned count = options.threads < 2 ? 2 : options.threads;
  bool held = true;
  for (unsigned round = 0; round < options.iters && held; round++) {
    std::vector<Account> accounts(count);
    run_threads(count, [&accounts, count](unsigned id) {
      accounts[id].deposit(300);
      accounts[id].withdraw(100);
      accounts[id].transfer(accounts[(id + 1) % count], 100);
    });
    for (Account& account : accounts) held = held && account.amount() == 300;
  }
  return verdict(held, "an amount is not what was paid in and out");
}
