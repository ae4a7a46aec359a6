// The money of an account is one set, the count of operations another. A transfer counts twice, and another thread's
// count in between is no violation: the count keeps no company with the money. Units are the methods, each on its object.
#include <mutex>

#include "common/program.h"

class Global {
 public:
  void inc() {
    std::lock_guard lock(mutex_);
    operations_++;
  }

 private:
  std::mutex mutex_;
  int operations_ = 0;
};

class Account {
 public:
  explicit Account(Global& global) : global_(global) {}

  void transfer(int amount) {
    std::lock_guard lock(mutex_);
    checking_ -= amount;
    global_.inc();
    savings_ += amount;
    global_.inc();
  }
  bool consistent() const { return checking_ + savings_ == 100; }

 private:
  std::mutex mutex_;
  Global& global_;
  int checking_ = 100, savings_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 3);
  Global global;
  Account account(global);
  run_threads(options.threads, [&account, &global, &options](unsigned id) {
    for (unsigned i = 0; i < options.iters; i++) id == 0 ? account.transfer(1) : global.inc();
  });
  return verdict(account.consistent(), "money was lost");
}
