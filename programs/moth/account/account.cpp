// A balance is updated by getting it, adding, and setting it.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Account {
 public:
  int get_balance() {
    std::lock_guard lock(mutex_);
    return balance_;
  }
  void set_balance(int balance) {
    std::lock_guard lock(mutex_);
    balance_ = balance;
  }
  CLEAVE_ATOMIC void update(int amount) {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    int balance = get_balance();
    set_balance(balance + amount);
  }

 private:
  std::recursive_mutex mutex_;
  int balance_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 5);
  Account account;
  run_threads(options.threads, [&account, &options](unsigned) {
    for (unsigned i = 0; i < options.iters; i++) account.update(10);
  });
  return verdict(account.get_balance() == static_cast<int>(10 * options.threads * options.iters),
                 "the balance is not the sum of the deposits");
}
