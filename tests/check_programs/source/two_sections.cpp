// Correct: looks, makes the value without the lock, looks again, and puts it there only if nobody else has.
#include <mutex>
#include <thread>

#include "steps.h"

int steps_done;

class Table {
 public:
  void add(int value, bool slow) {
    {
      std::lock_guard<std::mutex> guard(mutex_);
      if (present_) return;
    }
    if (slow) {
      done();
      wait_for(2);
    }
    std::lock_guard<std::mutex> guard(mutex_);
    if (present_) return;
    present_ = true;
    value_ = value;
  }

 private:
  std::mutex mutex_;
  bool present_ = false;
  int value_ = 0;
};

Table table;

int main() {
  std::thread slow([] { table.add(1, true); });
  wait_for(1);
  table.add(2, false);
  done();
  slow.join();
}
