// Every account thread books on its own balance and on the bank's total, without any lock.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Bank {
 public:
  explicit Bank(unsigned accounts) : balances_(accounts) {}
  CLEAVE_ATOMIC void service(unsigned id, int sum) {
#ifdef FIXED
    std::lock_guard lock(mutex_);
#endif
    balances_[id] += sum;
    total_ = total_ + sum;
  }
  bool balanced() const {
    int sum = 0;
    for (int balance : balances_) sum += balance;
    return sum == total_;
  }

 private:
#ifdef FIXED
  std::mutex mutex_;
#endif
  std::vector<int> balances_;
  Racy<int> total_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 10, 50);
  Bank bank(options.threads);
  run_threads(options.threads, [&bank, &options](unsigned id) {
    uint64_t random = options.seed + id;
    for (unsigned i = 0; i < options.iters; i++) bank.service(id, static_cast<int>(next_random(&random) % 200) - 100);
  });
  return verdict(bank.balanced(), "the bank's total is not the sum of its accounts");
}
