// Doubling a number with the increment alone: fetch it by adding nothing, then add what came back.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Counter {
 public:
  int inc(int amount) {
    std::lock_guard lock(mutex_);
    i_ += amount;
    return i_;
  }
  CLEAVE_ATOMIC void double_it() {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    int value = inc(0);
    inc(value);
  }

 private:
  std::recursive_mutex mutex_;
  int i_ = 1;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 1);
  bool held = true;
  for (unsigned i = 0; i < options.iters && held; i++) {
    Counter counter;
    unsigned threads = options.threads < 16 ? options.threads : 16;
    run_threads(threads, [&counter](unsigned) { counter.double_it(); });
    held = counter.inc(0) == 1 << threads;
  }
  return verdict(held, "doubling was not doubling");
}
