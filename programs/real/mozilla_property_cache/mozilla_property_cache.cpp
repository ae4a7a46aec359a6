// A script engine's property cache: a table, and a flag that says whether it is empty. Flushing looks at the flag,
// clears the table and sets the flag; filling writes the table and resets the flag. The two belong together.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class PropertyCache {
 public:
  CLEAVE_ATOMIC void fill(int key) {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    set_entry(key);
    set_empty(false);
  }
  CLEAVE_ATOMIC void flush() {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    if (is_empty()) return;
    clear_table();
    set_empty(true);
  }
  // An entry in a cache that is said to be empty would survive the next flush.
  bool consistent() {
    std::lock_guard lock(mutex_);
    if (!empty_) return true;
    for (int entry : table_)
      if (entry != 0) return false;
    return true;
  }

 private:
  void set_entry(int key) {
    std::lock_guard lock(mutex_);
    table_[key % kEntries] = key;
  }
  void clear_table() {
    std::lock_guard lock(mutex_);
    for (int& entry : table_) entry = 0;
  }
  bool is_empty() {
    std::lock_guard lock(mutex_);
    return empty_;
  }
  void set_empty(bool empty) {
    std::lock_guard lock(mutex_);
    empty_ = empty;
  }

  static constexpr int kEntries = 4;
  std::recursive_mutex mutex_;
  int table_[kEntries] = {};
  bool empty_ = true;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 1);
  bool held = true;
  for (unsigned round = 0; round < options.iters && held; round++) {
    PropertyCache cache;
    cache.fill(1);
    run_threads(options.threads, [&cache](unsigned id) {
      if (id % 2 == 0)
        cache.flush();
      else
        cache.fill(static_cast<int>(id) + 1);
    });
    held = cache.consistent();
  }
  return verdict(held, "the cache says it is empty, and is not");
}
