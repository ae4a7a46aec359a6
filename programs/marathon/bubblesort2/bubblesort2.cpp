// Bubble sort by a chain of threads: every pass starts the next, shorter one after its first step. Later passes run
// into earlier ones. As many units on one array as it has elements: cycles of every length.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Loader {
 public:
  explicit Loader(int length) : length_(length) {
    for (int i = 0; i < length; i++) array_[i] = length - i;
  }

  // One pass over the first `end` pairs; it starts the next, and waits for it.
  void run(int end) {
    std::thread next;
    pass(end, next);
    if (next.joinable()) next.join();
  }

  bool sorted() const {
    for (int i = 0; i + 1 < length_; i++)
      if (array_[i] > array_[i + 1]) return false;
    return true;
  }
  static constexpr int kMost = 512;

 private:
  CLEAVE_ATOMIC void pass(int end, std::thread& next) {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    for (int i = 0; i < end; i++) {
      if (array_[i] > array_[i + 1]) swap(i);
      if (i == 0 && end > 1) next = std::thread([this, end] { run(end - 1); });
    }
  }
  void swap(int i) {
    std::lock_guard lock(mutex_);
    int kept = array_[i];
    array_[i] = array_[i + 1];
    array_[i + 1] = kept;
  }

  std::recursive_mutex mutex_;
  const int length_;
  Racy<int> array_[kMost];
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 20, 1);
  int length = static_cast<int>(options.threads) + 1;
  if (length > Loader::kMost) length = Loader::kMost;
  bool held = true;
  for (unsigned round = 0; round < options.iters && held; round++) {
    Loader loader(length);
    loader.run(length - 1);
    held = loader.sorted();
  }
  return verdict(held, "the array is not sorted");
}
