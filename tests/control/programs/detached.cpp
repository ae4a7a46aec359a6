// main leaves while detached threads are still there.
#include <chrono>
#include <mutex>
#include <thread>

std::mutex mutex;
int counter;

int main() {
  for (int i = 0; i < 3; ++i) {
    std::thread([] {
      for (;;) {
        std::lock_guard guard(mutex);
        ++counter;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }).detach();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return 0;
}
