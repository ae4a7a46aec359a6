// The increment of lost_update under a lock.
#include <mutex>
#include <thread>

std::mutex mutex;
int counter;

void increment() {
  std::lock_guard guard(mutex);
  int seen = counter;
  counter = seen + 1;
}

int main() {
  std::thread first(increment), second(increment);
  first.join();
  second.join();
  return counter == 2 ? 0 : 1;
}
