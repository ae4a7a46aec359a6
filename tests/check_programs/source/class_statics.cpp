// The static fields of a class are one set, and its methods are units on it.
#include <mutex>
#include <thread>

#include "steps.h"

int steps_done;

class Registry {
 public:
  static void enter(int id) {
#ifdef REPAIRED
    std::unique_lock<std::mutex> guard(mutex_);
    last_ = id;
    count_++;
    guard.unlock();
    done();
    wait_for(2);
#else
    {
      std::lock_guard<std::mutex> guard(mutex_);
      last_ = id;
    }
    done();
    wait_for(2);
    std::lock_guard<std::mutex> guard(mutex_);
    count_++;
#endif
  }
  static bool consistent() {
    std::lock_guard<std::mutex> guard(mutex_);
    return last_ == count_;
  }

 private:
  static std::mutex mutex_;
  static int last_, count_;
};

std::mutex Registry::mutex_;
int Registry::last_, Registry::count_;
bool was_consistent;

int main() {
  std::thread writer([] { Registry::enter(1); });
  wait_for(1);
  was_consistent = Registry::consistent();
  done();
  writer.join();
}
