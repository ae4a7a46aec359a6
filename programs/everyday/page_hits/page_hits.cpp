// Hit counters built from a property template.
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

template <typename T>
class Property {
 public:
  explicit Property(T value = T()) : value_(value) {}
  T get() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return value_;
  }
  void set(T value) {
    std::lock_guard<std::mutex> lock(mutex_);
    value_ = value;
  }
  template <typename F>
  void modify(F change) {
    std::lock_guard<std::mutex> lock(mutex_);
    value_ = change(value_);
  }

 private:
  mutable std::mutex mutex_;
  T value_;
};

class PageStats {
 public:
  void hit() {
#ifdef FIXED
    hits_.modify([](long hits) { return hits + 1; });
#else
    hits_.set(hits_.get() + 1);
#endif
  }
  long hits() const { return hits_.get(); }

 private:
  Property<long> hits_;
};

int main() {
  PageStats stats;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++)
    threads.emplace_back([&stats] {
      for (int i = 0; i < 5; i++) stats.hit();
    });
  for (auto& thread : threads) thread.join();
  if (stats.hits() != 15) {
    std::printf("wrong: %ld hits instead of 15\n", stats.hits());
    return 1;
  }
  std::puts("15 hits");
  return 0;
}
