// Merge sort whose count of threads left is not protected at all.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Sorter {
 public:
  Sorter(std::vector<int>& numbers, int threads) : numbers_(numbers), temporary_(numbers), max_threads_(threads) {}

  void sort(size_t from, size_t to) {
    if (to - from < 2) return;
    size_t middle = from + (to - from) / 2;
    std::thread child;
    if (take_thread()) {
      child = std::thread([this, from, middle] {
        sort(from, middle);
        set_max_threads(1);
      });
    } else {
      sort(from, middle);
    }
    sort(middle, to);
    if (child.joinable()) child.join();
    merge(from, middle, to);
  }

  int threads_left() const { return max_threads_; }
  int lowest() const { return lowest_; }

 private:
  CLEAVE_ATOMIC bool take_thread() {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    if (max_threads_ <= 0) return false;
    set_max_threads(-1);
    return true;
  }
  CLEAVE_ATOMIC void set_max_threads(int by) {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    max_threads_ = max_threads_ + by;
    if (max_threads_ < lowest_) lowest_ = max_threads_;
  }
  void merge(size_t from, size_t middle, size_t to) {
    size_t left = from, right = middle;
    for (size_t i = from; i < to; i++) {
      bool take_left = right == to || (left < middle && numbers_[left] <= numbers_[right]);
      temporary_[i] = take_left ? numbers_[left++] : numbers_[right++];
    }
    for (size_t i = from; i < to; i++) numbers_[i] = temporary_[i];
  }

  std::vector<int>& numbers_;
  std::vector<int> temporary_;
#ifdef FIXED
  std::recursive_mutex mutex_;
#endif
  Racy<int> max_threads_, lowest_ = 1000;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 4, 1);
  bool held = true;
  for (unsigned round = 0; round < options.iters && held; round++) {
    std::vector<int> numbers;
    uint64_t random = options.seed + round;
    for (int i = 0; i < 32; i++) numbers.push_back(static_cast<int>(next_random(&random) % 1000));
    Sorter sorter(numbers, static_cast<int>(options.threads));
    sorter.sort(0, numbers.size());
    held = sorter.threads_left() == static_cast<int>(options.threads) && sorter.lowest() >= 0;
  }
  return verdict(held, "the count of threads left is wrong");
}
