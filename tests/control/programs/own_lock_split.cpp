// A deposit that looks at the balance in one section of a spin lock and changes it in the next: one of two is
// lost.
#include <atomic>
#include <thread>

class Account {
 public:
  void deposit(int amount) {
    lock();
    int seen = balance_;
    unlock();
    lock();
    balance_ = seen + amount;
    unlock();
  }
  int balance() const { return balance_; }

 private:
  void lock() {
    while (taken_.exchange(1, std::memory_order_acquire) != 0) {
    }
  }
  void unlock() { taken_.store(0, std::memory_order_release); }

  std::atomic<int> taken_{0};
  int balance_ = 0;
};
Account account;

int main() {
  std::thread first([] { account.deposit(1); }), second([] { account.deposit(2); });
  first.join();
  second.join();
  return account.balance() == 3 ? 0 : 1;
}
