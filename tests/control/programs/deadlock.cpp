// Two locks in both orders.
#include <mutex>
#include <thread>

std::mutex left, right;
int balance;

int main() {
  std::thread first([] {
    std::lock_guard outer(left);
    balance += 1;
    std::lock_guard inner(right);
    balance += 1;
  });
  std::thread second([] {
    std::lock_guard outer(right);
    balance += 1;
    std::lock_guard inner(left);
    balance += 1;
  });
  first.join();
  second.join();
  return 0;
}
