// Two related fields: lo <= hi is the invariant, and each is written under the lock, but not both in one
// section. With -DENDLESS the program does not end by itself: somebody has to stop it. With -DBUSY it does
// much more.
#include <mutex>
#include <thread>

#include "steps.h"

int steps_done;

class Range {
 public:
  void set(int lo, int hi) {
#ifdef REPAIRED
    {
      std::lock_guard<std::mutex> guard(mutex_);
      lo_ = lo;
      hi_ = hi;
    }
    done();
    wait_for(2);
#else
    {
      std::lock_guard<std::mutex> guard(mutex_);
      lo_ = lo;
    }
    done();
    wait_for(2);
    std::lock_guard<std::mutex> guard(mutex_);
    hi_ = hi;
#endif
  }
  bool valid() {
    std::lock_guard<std::mutex> guard(mutex_);
    return lo_ <= hi_;
  }

 private:
  std::mutex mutex_;
  int lo_ = 0, hi_ = 0;
};

Range range;
bool was_valid;

int main() {
  std::thread writer([] { range.set(3, 4); });
  wait_for(1);
  was_valid = range.valid();
  done();
  writer.join();
#ifdef BUSY
  for (int i = 0; i < 200000; ++i) range.valid();
#endif
#ifdef ENDLESS
  for (;;) {
    range.valid();
    sched_yield();
  }
#endif
}
