// A bank with an auditor.
#include <array>
#include <cstdio>
#include <mutex>
#include <numeric>
#include <thread>

class Bank {
 public:
  static constexpr int kAccounts = 4;

  Bank() { balances_.fill(100); }

  bool transfer(int from, int to, int amount) {
#ifdef FIXED
    std::scoped_lock lock(mutex_);
    if (balances_[from] < amount) return false;
    balances_[from] -= amount;
    balances_[to] += amount;
    return true;
#else
    if (!withdraw(from, amount)) return false;
    deposit(to, amount);
    return true;
#endif
  }

  int total() const {
    std::scoped_lock lock(mutex_);
    return std::accumulate(balances_.begin(), balances_.end(), 0);
  }

 private:
#ifndef FIXED
  bool withdraw(int account, int amount) {
    std::scoped_lock lock(mutex_);
    if (balances_[account] < amount) return false;
    balances_[account] -= amount;
    return true;
  }
  void deposit(int account, int amount) {
    std::scoped_lock lock(mutex_);
    balances_[account] += amount;
  }
#endif

  mutable std::mutex mutex_;
  std::array<int, kAccounts> balances_;
};

int main() {
  Bank bank;
  int missing = 0;
  std::thread teller([&bank] {
    for (int i = 0; i < 5; i++) bank.transfer(i % 4, (i + 1) % 4, 30);
  });
  std::thread auditor([&] {
    for (int i = 0; i < 5; i++) {
      int total = bank.total();
      if (total != 400) missing = 400 - total;
      std::this_thread::yield();
    }
  });
  teller.join();
  auditor.join();
  if (missing != 0) {
    std::printf("wrong: the audit misses %d\n", missing);
    return 1;
  }
  std::printf("total %d\n", bank.total());
  return 0;
}
