// A getter and a setter that lock are still a getter and a setter: who calls both is the unit.
#include <mutex>
#include <thread>

#include "steps.h"

int steps_done;

class Cell {
 public:
  int get() {
    std::lock_guard<std::mutex> guard(mutex_);
    return value_;
  }
  void set(int value) {
    std::lock_guard<std::mutex> guard(mutex_);
    value_ = value;
  }
  void add(int amount) {
    std::lock_guard<std::mutex> guard(mutex_);
    value_ += amount;
  }

 private:
  std::mutex mutex_;
  int value_ = 0;
};

Cell cell;

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
  std::thread other([] { increment(true); });
#ifndef REPAIRED
  wait_for(1);
  increment(false);
  done();
#else
  increment(false);
#endif
  other.join();
}
