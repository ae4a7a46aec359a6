// A synchronized list: addAll locks its own list and asks the other one first for its size, then for each item.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class ArrayList {
 public:
  int size() {
    std::lock_guard lock(mutex_);
    return size_;
  }
  bool get(int place, int* item) {
    std::lock_guard lock(mutex_);
    if (place >= size_) return false;
    *item = items_[place];
    return true;
  }
  CLEAVE_ATOMIC void add(int item) {
    std::lock_guard lock(mutex_);
    if (size_ < kMost) items_[size_++] = item;
  }
  CLEAVE_ATOMIC void clear() {
    std::lock_guard lock(mutex_);
    size_ = 0;
  }
  // False where Java throws: an item that was counted is not there.
  CLEAVE_ATOMIC bool add_all(ArrayList& other) {
#ifdef FIXED
    std::scoped_lock whole(mutex_, other.mutex_);
#else
    std::lock_guard lock(mutex_);
#endif
    int count = other.size();
    for (int i = 0; i < count; i++) {
      int item = 0;
      if (!other.get(i, &item)) return false;
      if (size_ < kMost) items_[size_++] = item;
    }
    return true;
  }

 private:
  static constexpr int kMost = 64;
  std::recursive_mutex mutex_;
  int items_[kMost] = {}, size_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 3, 10);  // one copies, the others fill and clear
  ArrayList copy, source;
  bool held = true;
  for (int i = 0; i < 3; i++) source.add(i);
  run_threads(options.threads, [&](unsigned id) {
    for (unsigned i = 0; i < options.iters; i++) {
      if (id == 0) {
        held = copy.add_all(source) && held;
        copy.clear();
      } else {
        source.clear();
        source.add(static_cast<int>(i));
      }
    }
  });
  return verdict(held, "an item that was counted is not there");
}
