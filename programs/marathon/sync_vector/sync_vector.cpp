// A vector behind a locking wrapper: every call is protected, and every use that takes two calls is not.
#include <mutex>
#include <vector>

#include "cleave/annotate.h"
#include "common/program.h"

class SyncVector {
 public:
  bool contains(int item) {
    std::lock_guard lock(mutex_);
    for (int there : items_)
      if (there == item) return true;
    return false;
  }
  size_t size() {
    std::lock_guard lock(mutex_);
    return items_.size();
  }
  bool get(size_t place, int* item) {
    std::lock_guard lock(mutex_);
    if (place >= items_.size()) return false;
    *item = items_[place];
    return true;
  }
  void push_back(int item) {
    std::lock_guard lock(mutex_);
    items_.push_back(item);
  }
  bool pop_back() {
    std::lock_guard lock(mutex_);
    if (items_.empty()) return false;
    items_.pop_back();
    return true;
  }
  std::recursive_mutex& monitor() { return mutex_; }

 private:
  std::recursive_mutex mutex_;
  std::vector<int> items_;
};

#ifdef FIXED
#define TOGETHER(container) std::lock_guard together((container).monitor())
#else
#define TOGETHER(container) (void)0
#endif

// The compound operations; each says whether it went as its parts promised.
CLEAVE_ATOMIC static bool put_if_absent(SyncVector& vector, int item) {
  TOGETHER(vector);
  size_t before = vector.size();
  if (vector.contains(item)) return true;
  vector.push_back(item);
  return vector.size() == before + 1;
}
CLEAVE_ATOMIC static bool last(SyncVector& vector) {
  TOGETHER(vector);
  size_t size = vector.size();
  int item = 0;
  return size == 0 || vector.get(size - 1, &item);
}
CLEAVE_ATOMIC static bool remove_last(SyncVector& vector) {
  TOGETHER(vector);
  return vector.size() == 0 || vector.pop_back();
}

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 10, 10);
  SyncVector vector;
  std::atomic<int> surprises = 0;
  run_threads(options.threads, [&vector, &options, &surprises](unsigned id) {
    uint64_t random = options.seed + id;
    for (unsigned i = 0; i < options.iters; i++) {
      uint64_t choice = next_random(&random);
      bool right = choice % 3 == 0   ? put_if_absent(vector, static_cast<int>(choice / 3 % 8))
                   : choice % 3 == 1 ? last(vector)
                                     : remove_last(vector);
      if (!right) surprises++;
    }
  });
  return verdict(surprises == 0, "a compound operation was torn");
}
