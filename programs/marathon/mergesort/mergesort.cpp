// Merge sort that starts threads while there are some left: how many are left is asked under the lock, threads are
// started, and only then counted.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Threads {
 public:
  explicit Threads(int limit) : limit_(limit) {}
  // 0, 1 or 2: how many may be started.
  int available() {
    std::lock_guard lock(mutex_);
    int left = limit_ - alive_;
    return left < 0 ? 0 : left > 2 ? 2 : left;
  }
  void decrease(int started) {
    std::lock_guard lock(mutex_);
    alive_ += started;
    if (alive_ > limit_) exceeded_ = true;
  }
  void increase(int ended) {
    std::lock_guard lock(mutex_);
    alive_ -= ended;
  }
  bool exceeded() const { return exceeded_; }
  std::recursive_mutex& monitor() { return mutex_; }

 private:
  std::recursive_mutex mutex_;
  const int limit_;
  int alive_ = 1;
  bool exceeded_ = false;
};

static void merge(std::vector<int>& numbers, size_t from, size_t middle, size_t to) {
  std::vector<int> merged;
  size_t left = from, right = middle;
  while (left < middle || right < to) {
    bool take_left = right == to || (left < middle && numbers[left] <= numbers[right]);
    merged.push_back(take_left ? numbers[left++] : numbers[right++]);
  }
  for (size_t i = 0; i < merged.size(); i++) numbers[from + i] = merged[i];
}

static void sort(std::vector<int>& numbers, size_t from, size_t to, Threads& threads);

// Asks, starts, counts: returns how many threads work on the two halves.
CLEAVE_ATOMIC static int start(std::vector<int>& numbers, size_t from, size_t middle, size_t to, Threads& threads,
                               std::thread (&children)[2]) {
#ifdef FIXED
  std::lock_guard whole(threads.monitor());
#endif
  int count = threads.available();
  if (count > 0) children[0] = std::thread([&numbers, from, middle, &threads] { sort(numbers, from, middle, threads); });
  if (count > 1) children[1] = std::thread([&numbers, middle, to, &threads] { sort(numbers, middle, to, threads); });
  threads.decrease(count);
  return count;
}

static void sort(std::vector<int>& numbers, size_t from, size_t to, Threads& threads) {
  if (to - from < 2) return;
  size_t middle = from + (to - from) / 2;
  std::thread children[2];
  int count = start(numbers, from, middle, to, threads, children);
  if (count < 1) sort(numbers, from, middle, threads);
  if (count < 2) sort(numbers, middle, to, threads);
  for (int i = 0; i < count; i++) children[i].join();
  threads.increase(count);
  merge(numbers, from, middle, to);
}

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 4, 1);
  bool held = true;
  for (unsigned round = 0; round < options.iters && held; round++) {
    Threads threads(static_cast<int>(options.threads));
    std::vector<int> numbers;
    uint64_t random = options.seed + round;
    for (int i = 0; i < 50; i++) numbers.push_back(static_cast<int>(next_random(&random) % 1000));
    sort(numbers, 0, numbers.size(), threads);
    for (size_t i = 1; i < numbers.size(); i++) held = held && numbers[i - 1] <= numbers[i];
    held = held && !threads.exceeded();
  }
  return verdict(held, "more threads were started than allowed");
}
