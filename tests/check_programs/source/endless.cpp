// two_fields.cpp in a program that does not end by itself: somebody has to stop it at the cycle.
#include <mutex>
#include <thread>

#include "steps.h"

int steps_done;

class Range {
 public:
  void set(int lo, int hi) {
    {
      std::lock_guard<std::mutex> guard(mutex_);
      lo_ = lo;
    }
    done();
    wait_for(2);
    std::lock_guard<std::mutex> guard(mutex_);
    hi_ = hi;
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
  for (;;) {
    range.valid();
    sched_yield();
  }
}
