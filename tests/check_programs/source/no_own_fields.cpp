// A class that has no field of its own is as large as its base. The base's method is called first: the object
// is one of the derived class all the same.
#include <mutex>
#include <thread>

#include "steps.h"

int steps_done;

class Range {
 public:
  virtual ~Range() = default;
  virtual void set(int lo, int hi) = 0;
  bool valid() {
    std::lock_guard<std::mutex> guard(mutex_);
    return lo_ <= hi_;
  }

 protected:
  std::mutex mutex_;
  int lo_ = 0, hi_ = 0;
};

class Plain : public Range {
 public:
  void set(int lo, int hi) override {
    {
      std::lock_guard<std::mutex> guard(mutex_);
      lo_ = lo;
    }
    done();
    wait_for(2);
    std::lock_guard<std::mutex> guard(mutex_);
    hi_ = hi;
  }
};

bool was_valid;

int main() {
  Plain plain;
  Range& range = plain;
  was_valid = range.valid();
  std::thread writer([&] { range.set(3, 4); });
  wait_for(1);
  was_valid = range.valid();
  done();
  writer.join();
}
