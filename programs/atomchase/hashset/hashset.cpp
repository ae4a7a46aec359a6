// A synchronized hash set: contains, then add; two threads add the same and both believe to be the first.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class HashSet {
 public:
  bool contains(int item) {
    std::lock_guard lock(mutex_);
    return slots_[place_of(item)] == item;
  }
  void add(int item) {
    std::lock_guard lock(mutex_);
    slots_[place_of(item)] = item;
  }
  // Whether it was not there before.
  CLEAVE_ATOMIC bool add_if_absent(int item) {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    if (contains(item)) return false;
    add(item);
    return true;
  }

 private:
  // Open addressing; there is always room, and 0 is nothing.
  unsigned place_of(int item) const {
    unsigned place = static_cast<unsigned>(item) * 2654435761u % kSlots;
    while (slots_[place] != 0 && slots_[place] != item) place = (place + 1) % kSlots;
    return place;
  }

  static constexpr unsigned kSlots = 64;
  std::recursive_mutex mutex_;
  int slots_[kSlots] = {};
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 3, 1);
  bool held = true;
  for (unsigned round = 0; round < options.iters && held; round++) {
    HashSet set;
    std::atomic<int> first = 0;
    run_threads(options.threads, [&set, &first](unsigned) {
      for (int item = 1; item <= 10; item++) first += set.add_if_absent(item);
    });
    held = first == 10;
  }
  return verdict(held, "an item was added twice");
}
