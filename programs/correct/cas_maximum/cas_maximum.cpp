// Lock-free extremes and a saturating counter.
#include <atomic>
#include <climits>
#include <cstdio>
#include <thread>
#include <vector>

template <typename T, typename Better>
void update_if(std::atomic<T>& target, T value, Better better) {
  T current = target.load(std::memory_order_relaxed);
  while (better(value, current) && !target.compare_exchange_weak(current, value)) {
  }
}

class Extremes {
 public:
  void add(int value) {
    update_if(min_, value, [](int a, int b) { return a < b; });
    update_if(max_, value, [](int a, int b) { return a > b; });
    int samples = samples_.load();
    while (samples < kMost && !samples_.compare_exchange_weak(samples, samples + 1)) {
    }
  }
  int min() const { return min_; }
  int max() const { return max_; }
  int samples() const { return samples_; }

 private:
  static constexpr int kMost = 10;
  std::atomic<int> min_{INT_MAX};
  std::atomic<int> max_{INT_MIN};
  std::atomic<int> samples_{0};
};

int main() {
  Extremes extremes;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++)
    threads.emplace_back([&extremes, t] {
      for (int i = 0; i < 4; i++) extremes.add((i * 7 + t * 5) % 13 - 6);
    });
  for (auto& thread : threads) thread.join();
  if (extremes.min() != -6 || extremes.max() != 6 || extremes.samples() != 10) {
    std::printf("wrong: %d to %d in %d samples\n", extremes.min(), extremes.max(), extremes.samples());
    return 1;
  }
  std::puts("-6 to 6");
  return 0;
}
