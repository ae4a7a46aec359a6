// The transfer of figure 1 when the count belongs to the money: the two bookings must have consecutive numbers.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Account {
 public:
  CLEAVE_ATOMIC int inc() {
    std::lock_guard lock(mutex_);
    return ++operations_;
  }
  // Whether its two bookings have consecutive numbers.
  CLEAVE_ATOMIC bool transfer(int amount) {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    checking_ -= amount;
    int first = inc();
    savings_ += amount;
    return inc() == first + 1;
  }

 private:
  std::recursive_mutex mutex_;
  CLEAVE_SET("books") int checking_ = 100;
  CLEAVE_SET("books") int savings_ = 0;
  CLEAVE_SET("books") int operations_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 3);
  Account account;
  bool held = true;
  run_threads(options.threads, [&account, &options, &held](unsigned id) {
    for (unsigned i = 0; i < options.iters; i++) {
      if (id == 0)
        held = account.transfer(1) && held;
      else
        account.inc();
    }
  });
  return verdict(held, "the two bookings of a transfer do not follow each other");
}
