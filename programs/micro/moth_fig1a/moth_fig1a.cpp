// A pair is set in one step and fetched in two.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Pair {
 public:
  CLEAVE_ATOMIC void set_pair(int a, int b) {
    std::lock_guard lock(mutex_);
    a_ = a;
    b_ = b;
  }
  CLEAVE_ATOMIC bool are_equal() {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    int a = get_a();
    int b = get_b();
    return a == b;
  }

 private:
  int get_a() {
    std::lock_guard lock(mutex_);
    return a_;
  }
  int get_b() {
    std::lock_guard lock(mutex_);
    return b_;
  }

  std::recursive_mutex mutex_;
  int a_ = 0, b_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 3);
  Pair pair;
  std::atomic<bool> held = true;
  run_threads(options.threads, [&pair, &options, &held](unsigned id) {
    for (unsigned i = 0; i < options.iters; i++) {
      if (id % 2 == 1)
        pair.set_pair(static_cast<int>(i), static_cast<int>(i));
      else if (!pair.are_equal())
        held = false;
    }
  });
  return verdict(held, "the two halves of a pair are from different times");
}
