// A synchronized ordered set: ask for the first, then take it out; another thread takes it meanwhile.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class TreeSet {
 public:
  // -1 when empty.
  int first() {
    std::lock_guard lock(mutex_);
    return size_ == 0 ? -1 : items_[0];
  }
  bool remove(int item) {
    std::lock_guard lock(mutex_);
    int place = lower_bound(item);
    if (place == size_ || items_[place] != item) return false;
    for (int i = place; i + 1 < size_; i++) items_[i] = items_[i + 1];
    size_--;
    return true;
  }
  CLEAVE_ATOMIC bool add(int item) {
    std::lock_guard lock(mutex_);
    int place = lower_bound(item);
    if (size_ == kMost || (place < size_ && items_[place] == item)) return false;
    for (int i = size_; i > place; i--) items_[i] = items_[i - 1];
    items_[place] = item;
    size_++;
    return true;
  }
  // False if the first was gone when it was to be removed.
  CLEAVE_ATOMIC bool poll_first() {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    int item = first();
    return item == -1 || remove(item);
  }

 private:
  int lower_bound(int item) const {
    int place = 0;
    while (place < size_ && items_[place] < item) place++;
    return place;
  }

  static constexpr int kMost = 64;
  std::recursive_mutex mutex_;
  int items_[kMost] = {}, size_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 3, 10);
  TreeSet set;
  std::atomic<bool> held = true;
  run_threads(options.threads, [&set, &options, &held](unsigned id) {
    for (unsigned i = 0; i < options.iters; i++) {
      set.add(static_cast<int>((i * 7 + id) % 32));
      if (!set.poll_first()) held = false;
    }
  });
  return verdict(held, "the first was gone when it was to be removed");
}
