// Hand-made spin lock.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class SpinLock {
 public:
  void lock() {
    while (flag_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
};

class Histogram {
 public:
  void add(int value) {
    std::lock_guard<SpinLock> lock(lock_);
    bins_[value % 4]++;
    total_++;
  }
  bool consistent() const {
    std::lock_guard<SpinLock> lock(lock_);
    return bins_[0] + bins_[1] + bins_[2] + bins_[3] == total_;
  }
  int total() const {
    std::lock_guard<SpinLock> lock(lock_);
    return total_;
  }

 private:
  mutable SpinLock lock_;
  int bins_[4] = {};
  int total_ = 0;
};

int main() {
  Histogram histogram;
  std::atomic<bool> wrong{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; t++)
    threads.emplace_back([&histogram, t] {
      for (int i = 0; i < 5; i++) histogram.add(3 * i + t);
    });
  threads.emplace_back([&] {
    for (int i = 0; i < 3; i++)
      if (!histogram.consistent()) wrong = true;
  });
  for (auto& thread : threads) thread.join();
  if (wrong || histogram.total() != 10) {
    std::printf("wrong: total %d\n", histogram.total());
    return 1;
  }
  std::puts("total 10");
  return 0;
}
