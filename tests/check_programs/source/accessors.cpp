// Another class's insides, through its getter and setter: the function that uses them is a unit for the
// object, though it is none of its methods. With -DLOCKED both lock, and are still a getter and a setter.
// With -DPOLLING the function looks again and again, in a loop, and each look is for itself.
#include <mutex>
#include <thread>

#include "steps.h"

int steps_done;

class Cell {
 public:
#ifdef LOCKED
  int get() {
    std::lock_guard<std::mutex> guard(mutex_);
    return value_;
  }
  void set(int value) {
    std::lock_guard<std::mutex> guard(mutex_);
    value_ = value;
  }
#else
  int get() { return value_; }
  void set(int value) { value_ = value; }
#endif
  void add(int amount) {
    std::lock_guard<std::mutex> guard(mutex_);
    value_ += amount;
  }

 private:
  std::mutex mutex_;
  int value_ = 0;
};

Cell cell;

#ifdef POLLING
void watch() {
  while (cell.get() == 0) {
    done();
    sched_yield();
  }
}
#endif

void increment(bool first) {
#ifdef REPAIRED
  cell.add(1);
  (void)first;
#else
  int value = cell.get();
  if (first) {
    done();
    wait_for(2);
  }
  cell.set(value + 1);
#endif
}

int main() {
#ifdef POLLING
  std::thread other(watch);
  wait_for(1);
  increment(false);
#else
  std::thread other([] { increment(true); });
#ifndef REPAIRED
  wait_for(1);
#endif
  increment(false);
  done();
#endif
  other.join();
}
