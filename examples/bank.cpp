// Two withdrawals from one account. Every access of the balance is under the lock, ThreadSanitizer has nothing to say,
// and still money can be withdrawn twice and deducted once: what withdraw() read may be old when it writes.
#include <cstdio>
#include <mutex>
#include <thread>

#include <cleave/annotate.h>

class Account {
 public:
  int get() {
    std::lock_guard<std::mutex> hold(mutex_);
    return balance_;
  }
  void set(int balance) {
    std::lock_guard<std::mutex> hold(mutex_);
    balance_ = balance;
  }

 private:
  std::mutex mutex_;
  int balance_ = 100;
};

Account account;

CLEAVE_ATOMIC bool withdraw(int amount) {
  int balance = account.get();
  if (balance < amount) return false;
  account.set(balance - amount);
  return true;
}

int main() {
  std::thread ann([] { withdraw(60); });
  std::thread bob([] { withdraw(30); });
  ann.join();
  bob.join();
  std::printf("%d left of 100, after withdrawing 60 and 30\n", account.get());
}
