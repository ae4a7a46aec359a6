// A free function that looks with one method and acts with another: no heuristic makes it a unit.
// CLEAVE_UNITFOR on its parameter does (-DFOR=CLEAVE_UNITFOR), and so does cleave.toml (-DFOR=).
#include <mutex>
#include <thread>

#include "cleave/annotate.h"
#include "steps.h"

int steps_done;

class Stock {
 public:
  bool available(int count) {
    std::lock_guard<std::recursive_mutex> guard(mutex_);
    ++looks_;
    return count_ >= count;
  }
  void take(int count) {
    std::lock_guard<std::recursive_mutex> guard(mutex_);
    count_ -= count;
    taken_ += count;
  }
  std::recursive_mutex& mutex() { return mutex_; }

 private:
  std::recursive_mutex mutex_;
  int count_ = 3, taken_ = 0, looks_ = 0;
};

Stock stock;

bool order(FOR Stock& from, int count) {
#ifdef REPAIRED
  bool taken = false;
  {
    std::lock_guard<std::recursive_mutex> guard(from.mutex());
    if (from.available(count)) {
      from.take(count);
      taken = true;
    }
  }
  done();
  wait_for(2);
  return taken;
#else
  if (!from.available(count)) return false;
  done();
  wait_for(2);
  from.take(count);
  return true;
#endif
}

int main() {
  std::thread customer([] { order(stock, 2); });
  wait_for(1);
  stock.take(2);
  done();
  customer.join();
}
