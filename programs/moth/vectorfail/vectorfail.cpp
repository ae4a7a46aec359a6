// Two numbers, one twice the other; the larger and the smaller are fetched one after the other and compared.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Vector {
 public:
  CLEAVE_ATOMIC void set_elements(int small, int large) {
    std::lock_guard lock(mutex_);
    first_ = small;
    second_ = large;
  }
  int get_max() {
    std::lock_guard lock(mutex_);
    return first_is_greater_ ? first_ : second_;
  }
  int get_min() {
    std::lock_guard lock(mutex_);
    return first_is_greater_ ? second_ : first_;
  }
  std::recursive_mutex& monitor() { return mutex_; }

 private:
  std::recursive_mutex mutex_;
  int first_ = 1, second_ = 2;
  bool first_is_greater_ = false;
};

CLEAVE_ATOMIC static bool is_twice(Vector& vector) {
#ifdef FIXED
  std::lock_guard whole(vector.monitor());
#endif
  int max = vector.get_max();
  int min = vector.get_min();
  return max == 2 * min;
}

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 5);
  Vector vector;
  std::atomic<bool> held = true;
  run_threads(options.threads, [&vector, &options, &held](unsigned id) {
    for (unsigned i = 0; i < options.iters; i++) {
      int small = 1 + static_cast<int>(i % 100);
      if (id % 2 == 1)
        vector.set_elements(small, 2 * small);
      else if (!is_twice(vector))
        held = false;
    }
  });
  return verdict(held, "one element is not twice the other");
}
