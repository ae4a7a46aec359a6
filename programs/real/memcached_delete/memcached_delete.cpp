// A cache server deletes by looking the item up, then unlinking what was found. An increment in between, which sees
// that somebody else holds the item, replaces it by a new one: the delete says "done", and the key lives on.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

struct Item {
  int value = 0, references = 1;
};

class Cache {
 public:
  Cache() { linked_ = &items_[0]; }

  // Whether the key is gone, as the client is told.
  CLEAVE_ATOMIC bool remove() {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    Item* item = get();
    if (item == nullptr) return false;
    unlink(item);
    return true;
  }

  CLEAVE_ATOMIC void increment() {
    std::lock_guard lock(mutex_);
    Item* item = linked_;
    if (item == nullptr) return;
    if (item->references == 1) {
      item->value++;
    } else {  // somebody looks at it: leave it as it is, and link a new one
      Item* replacement = &items_[1];
      replacement->value = item->value + 1;
      replacement->references = 1;
      linked_ = replacement;
    }
  }

  bool contains() {
    std::lock_guard lock(mutex_);
    return linked_ != nullptr;
  }

 private:
  Item* get() {
    std::lock_guard lock(mutex_);
    if (linked_ != nullptr) linked_->references++;
    return linked_;
  }
  void unlink(Item* item) {
    std::lock_guard lock(mutex_);
    item->references--;
    if (linked_ == item) linked_ = nullptr;
  }

  std::recursive_mutex mutex_;
  Item items_[2];
  Item* linked_;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 1);  // one deletes, one increments
  bool held = true;
  for (unsigned i = 0; i < options.iters && held; i++) {
    Cache cache;
    run_threads(2, [&cache](unsigned id) {
      if (id == 0)
        cache.remove();
      else
        cache.increment();
    });
    held = !cache.contains();
  }
  return verdict(held, "a deleted key is still there");
}
