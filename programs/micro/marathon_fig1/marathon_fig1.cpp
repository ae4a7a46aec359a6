// Two sets in one object: the money, and the count of operations. A transfer counts twice, and another thread's count in
// between is no violation: the count keeps no company with the money.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Account {
 public:
  CLEAVE_ATOMIC void inc() {
    std::lock_guard lock(mutex_);
    operations_++;
  }
  CLEAVE_ATOMIC void transfer(int amount) {
    std::lock_guard lock(money_mutex_);
    checking_ -= amount;
    inc();
    savings_ += amount;
    inc();
  }
  bool consistent() const { return checking_ + savings_ == 100; }

 private:
  std::mutex mutex_, money_mutex_;
  CLEAVE_SET("money") int checking_ = 100;
  CLEAVE_SET("money") int savings_ = 0;
  CLEAVE_SET("operations") int operations_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 3);
  Account account;
  run_threads(options.threads, [&account, &options](unsigned id) {
    for (unsigned i = 0; i < options.iters; i++) id == 0 ? account.transfer(1) : account.inc();
  });
  return verdict(account.consistent(), "money was lost");
}
