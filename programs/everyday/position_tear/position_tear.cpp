// The position of a vehicle, shared through atomics.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

struct Position {
  int x;
  int y;
};

class Tracker {
 public:
  void set(Position position) {
#ifdef FIXED
    std::lock_guard<std::mutex> lock(mutex_);
#endif
    x_.store(position.x, std::memory_order_relaxed);
    y_.store(position.y, std::memory_order_relaxed);
  }
  Position get() const {
#ifdef FIXED
    std::lock_guard<std::mutex> lock(mutex_);
#endif
    Position position;
    position.x = x_.load(std::memory_order_relaxed);
    position.y = y_.load(std::memory_order_relaxed);
    return position;
  }

 private:
#ifdef FIXED
  mutable std::mutex mutex_;
#endif
  std::atomic<int> x_{0};
  std::atomic<int> y_{0};
};

int main() {
  Tracker tracker;
  Position bad{0, 0};
  std::thread vehicle([&tracker] {
    for (int i = 1; i <= 5; i++) tracker.set({i, 2 * i});
  });
  std::thread map([&] {
    for (int i = 0; i < 5; i++) {
      Position position = tracker.get();
      if (position.y != 2 * position.x) bad = position;
      std::this_thread::yield();
    }
  });
  vehicle.join();
  map.join();
  if (bad.x != 0 || bad.y != 0) {
    std::printf("wrong: position %d %d\n", bad.x, bad.y);
    return 1;
  }
  std::puts("all positions on the line");
  return 0;
}
