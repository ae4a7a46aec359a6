// A wait that is not in a loop: it takes a wake-up without a reason for the news it waits for.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace {
std::mutex mutex;
std::condition_variable changed;
bool ready = false;
int seen = -1;
}  // namespace

int main() {
  std::thread waiter([] {
    std::unique_lock guard(mutex);
    if (!ready) changed.wait(guard);
    seen = ready ? 1 : 0;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the other one waits by then
  for (int i = 0; i < 100; ++i) std::lock_guard guard(mutex);
  {
    std::lock_guard guard(mutex);
    ready = true;
  }
  changed.notify_one();
  waiter.join();
  return seen == 1 ? 0 : 7;
}
