// Two threads take turns by a variable that both set on entering.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Critical {
 public:
  // Whether it was alone.
  CLEAVE_ATOMIC bool section0() {
#ifdef FIXED
    std::lock_guard lock(mutex_);
#endif
    turn_ = 0;
    std::this_thread::yield();  // what is done inside
    bool alone = turn_ == 0;
    turn_ = 1;
    return alone;
  }
  CLEAVE_ATOMIC void section1() {
#ifdef FIXED
    std::lock_guard lock(mutex_);
#endif
    turn_ = 1;
    for (int spin = 0; spin < 100 && turn_ != 1; spin++) std::this_thread::yield();
    turn_ = 0;
  }

 private:
#ifdef FIXED
  std::mutex mutex_;
#endif
  Racy<int> turn_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 1);  // two threads, as published
  Critical critical;
  bool held = true;
  run_threads(2, [&critical, &options, &held](unsigned id) {
    for (unsigned i = 0; i < options.iters; i++) {
      if (id == 1)
        critical.section1();
      else
        held = critical.section0() && held;
    }
  });
  return verdict(held, "two threads were in the critical section");
}
