// A queue with a condition variable. take() waits in the middle, which is no violation: a unit ends where its
// thread waits. With BROKEN, taking is two sections, and the element may be gone in between.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "steps.h"

int steps_done;

class Queue {
 public:
  void put(int value) {
    std::lock_guard<std::mutex> guard(mutex_);
    items_[(head_ + count_) % 8] = value;
    ++count_;
    filled_.notify_one();
  }
  int take() {
    std::unique_lock<std::mutex> guard(mutex_);
    while (count_ == 0) {
      done();
      filled_.wait(guard);
    }
    return pop();
  }
  bool try_take(int* value) {
    {
      std::lock_guard<std::mutex> guard(mutex_);
      if (count_ == 0) return false;
    }
    done();
    wait_for(2);
    std::lock_guard<std::mutex> guard(mutex_);
    *value = pop();
    return true;
  }

 private:
  int pop() {
    int value = items_[head_];
    head_ = (head_ + 1) % 8;
    --count_;
    return value;
  }
  std::mutex mutex_;
  std::condition_variable filled_;
  int items_[8] = {};
  int head_ = 0, count_ = 0;
};

Queue queue;
int taken[2];

int main() {
#ifdef BROKEN
  queue.put(1);
  queue.put(2);
  std::thread taker([] { queue.try_take(&taken[0]); });
  wait_for(1);
  taken[1] = queue.take();
  done();
#else
  std::thread taker([] { taken[0] = queue.take(); });
  wait_for(1);
  queue.put(1);
#endif
  taker.join();
}
