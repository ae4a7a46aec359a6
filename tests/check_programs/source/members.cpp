// A by-value member belongs to its object, and objects that a vector holds are objects of their own.
#include <mutex>
#include <thread>
#include <vector>

#include "steps.h"

int steps_done;

struct Range {
  int lo = 0, hi = 0;
};

class Gauge {
 public:
  void set(int lo, int hi) {
#ifdef REPAIRED
    std::unique_lock<std::mutex> guard(mutex_);
    range_.lo = lo;
    range_.hi = hi;
    guard.unlock();
    done();
    wait_for(2);
#else
    {
      std::lock_guard<std::mutex> guard(mutex_);
      range_.lo = lo;
    }
    done();
    wait_for(2);
    std::lock_guard<std::mutex> guard(mutex_);
    range_.hi = hi;
#endif
  }
  int width() {
    std::lock_guard<std::mutex> guard(mutex_);
    return range_.hi - range_.lo;
  }

 private:
  std::mutex mutex_;
  Range range_;
};

int widths[2];

int main() {
  std::vector<Gauge> gauges(2);
  std::thread writer([&] { gauges[0].set(3, 4); });
  wait_for(1);
#ifdef OTHER
  widths[1] = gauges[1].width();  // no part of what is being written
#else
  widths[0] = gauges[0].width();
#endif
  done();
  writer.join();
}
