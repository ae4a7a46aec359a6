// A synchronized vector: lastIndexOf(item) asks for the size, then searches backwards from there in a second step.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Vector {
 public:
  CLEAVE_ATOMIC void add(int item) {
    std::lock_guard lock(mutex_);
    if (size_ < kMost) items_[size_++] = item;
  }
  CLEAVE_ATOMIC void remove_all() {
    std::lock_guard lock(mutex_);
    size_ = 0;
  }
  // -1: not there; -2: where Java throws, the index is beyond the end.
  CLEAVE_ATOMIC int last_index_of(int item) {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    return last_index_of(item, size() - 1);
  }

 private:
  int size() {
    std::lock_guard lock(mutex_);
    return size_;
  }
  int last_index_of(int item, int from) {
    std::lock_guard lock(mutex_);
    if (from >= size_) return -2;
    while (from >= 0 && items_[from] != item) from--;
    return from;
  }

  static constexpr int kMost = 64;
  std::recursive_mutex mutex_;
  int items_[kMost] = {}, size_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 3, 10);
  Vector vector;
  std::atomic<bool> held = true;
  run_threads(options.threads, [&vector, &options, &held](unsigned id) {
    for (unsigned i = 0; i < options.iters; i++) {
      if (id % 2 == 0) {
        if (vector.last_index_of(7) == -2) held = false;
      } else {
        vector.add(static_cast<int>(i));
        vector.remove_all();
      }
    }
  });
  return verdict(held, "the vector was searched from beyond its end");
}
