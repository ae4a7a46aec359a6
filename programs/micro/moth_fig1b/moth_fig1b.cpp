// A value leaves one critical section and comes back in another.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Counter {
 public:
  CLEAVE_ATOMIC void inc_x(int by) {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    int value = get_x();
    set_x(value + by);
  }
  int get_x() {
    std::lock_guard lock(mutex_);
    return x_;
  }

 private:
  void set_x(int x) {
    std::lock_guard lock(mutex_);
    x_ = x;
  }

  std::recursive_mutex mutex_;
  int x_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 3);
  Counter counter;
  run_threads(options.threads, [&counter, &options](unsigned) {
    for (unsigned i = 0; i < options.iters; i++) counter.inc_x(2);
  });
  return verdict(counter.get_x() == static_cast<int>(2 * options.threads * options.iters), "an increment was lost");
}
