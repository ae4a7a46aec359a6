// Eight threads make one pass of bubble sort each over the same array. Neighbours are compared without the lock, and
// swapped with it, when they may be in order already; and the passes run through each other.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Sorter {
 public:
  explicit Sorter(const int* numbers) {
    for (int i = 0; i < kLength; i++) array_[i] = numbers[i];
  }

  CLEAVE_ATOMIC void pass() {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    for (int i = 0; i + 1 < kLength; i++)
      if (array_[i] > array_[i + 1]) swap(i);
  }

  bool sorted() const {
    for (int i = 0; i + 1 < kLength; i++)
      if (array_[i] > array_[i + 1]) return false;
    return true;
  }
  static constexpr int kLength = 8;

 private:
  void swap(int i) {
    std::lock_guard lock(mutex_);
    int kept = array_[i];
    array_[i] = array_[i + 1];
    array_[i + 1] = kept;
  }

  std::recursive_mutex mutex_;
  Racy<int> array_[kLength];
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, Sorter::kLength, 1);
  unsigned passes = options.threads < Sorter::kLength ? Sorter::kLength : options.threads;
  const int numbers[Sorter::kLength] = {3, 5, 9, 2, 0, 4, -6, -3};
  bool held = true;
  for (unsigned round = 0; round < options.iters && held; round++) {
    Sorter sorter(numbers);
    run_threads(passes, [&sorter](unsigned) { sorter.pass(); });
    held = sorter.sorted();
  }
  return verdict(held, "the array is not sorted");
}
