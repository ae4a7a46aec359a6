// The set of an object has its inherited fields: count stands in the base, sum in the derived class.
#include <mutex>
#include <thread>

#include "steps.h"

int steps_done;

class Counted {
 protected:
  std::mutex mutex_;
  int count_ = 0;
};

class Statistics : public Counted {
 public:
  void add(int value) {
#ifdef REPAIRED
    {
      std::lock_guard<std::mutex> guard(mutex_);
      ++count_;
      sum_ += value;
    }
    done();
    wait_for(2);
#else
    {
      std::lock_guard<std::mutex> guard(mutex_);
      ++count_;
    }
    done();
    wait_for(2);
    std::lock_guard<std::mutex> guard(mutex_);
    sum_ += value;
#endif
  }
  int average() {
    std::lock_guard<std::mutex> guard(mutex_);
    return count_ == 0 ? 0 : sum_ / count_;
  }

 private:
  int sum_ = 0;
};

Statistics statistics;
int result;

int main() {
  std::thread adder([] { statistics.add(7); });
  wait_for(1);
  result = statistics.average();
  done();
  adder.join();
}
