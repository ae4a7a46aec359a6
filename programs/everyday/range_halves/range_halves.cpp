// A range of versions that a server accepts.
#include <cstdio>
#include <mutex>
#include <thread>
#include <utility>

class Range {
 public:
  Range(int low, int high) : low_(low), high_(high) {}

  void set_low(int low) {
    std::lock_guard<std::recursive_mutex> lock(mutex_);
    low_ = low;
  }
  void set_high(int high) {
    std::lock_guard<std::recursive_mutex> lock(mutex_);
    high_ = high;
  }
  void move_to(int low, int high) {
#ifdef FIXED
    std::lock_guard<std::recursive_mutex> lock(mutex_);
#endif
    set_low(low);
    set_high(high);
  }
  std::pair<int, int> both() const {
    std::lock_guard<std::recursive_mutex> lock(mutex_);
    return {low_, high_};
  }

 private:
  mutable std::recursive_mutex mutex_;
  int low_;
  int high_;
};

int main() {
  Range range(1, 3);
  int bad_low = 0, bad_high = 0;
  std::thread mover([&range] {
    for (int i = 1; i <= 4; i++) range.move_to(10 * i, 10 * i + 2);
  });
  std::thread reader([&] {
    for (int i = 0; i < 6; i++) {
      auto [low, high] = range.both();
      if (low > high) {
        bad_low = low;
        bad_high = high;
      }
      std::this_thread::yield();
    }
  });
  mover.join();
  reader.join();
  if (bad_low > bad_high) {
    std::printf("wrong: range from %d to %d\n", bad_low, bad_high);
    return 1;
  }
  std::puts("all ranges in order");
  return 0;
}
