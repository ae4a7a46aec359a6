// Both wait in a loop for the other to go first.
#include <atomic>
#include <thread>

std::atomic<int> first_ready, second_ready;

int main() {
  std::thread first([] {
    while (!second_ready) std::this_thread::yield();
    first_ready = 1;
  });
  std::thread second([] {
    while (!first_ready) std::this_thread::yield();
    second_ready = 1;
  });
  first.join();
  second.join();
  return 0;
}
