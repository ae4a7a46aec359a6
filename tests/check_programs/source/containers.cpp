// What a standard container has on the heap is part of the object that holds the container: CONTAINER says
// which one.
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "steps.h"

int steps_done;

class Store {
 public:
  int value() {
    std::lock_guard<std::mutex> guard(mutex_);
    return item();
  }
  void set(int value) {
    std::lock_guard<std::mutex> guard(mutex_);
    item() = value;
  }
  void increment() {
#ifdef REPAIRED
    std::unique_lock<std::mutex> guard(mutex_);
    ++item();
    guard.unlock();
    done();
    wait_for(2);
#else
    int now = value();
    done();
    wait_for(2);
    set(now + 1);
#endif
  }

 private:
  std::mutex mutex_;
#if CONTAINER == 1
  std::vector<int> items_ = std::vector<int>(4);
  int& item() { return items_[2]; }
#elif CONTAINER == 2
  std::deque<int> items_ = std::deque<int>(4);
  int& item() { return items_[2]; }
#elif CONTAINER == 3
  std::list<int> items_ = std::list<int>(4);
  int& item() { return items_.front(); }
#elif CONTAINER == 4
  std::map<std::string, int> items_;
  int& item() { return items_["one"]; }
#elif CONTAINER == 5
  std::unordered_map<int, int> items_;
  int& item() { return items_[1]; }
#else
  std::vector<std::vector<int>> items_ = {{1}, {2}};
  int& item() { return items_[1][0]; }
#endif
};

int main() {
  Store store;
  store.set(3);
  std::thread increments([&] { store.increment(); });
  std::thread sets([&] {
    wait_for(1);
    store.set(9);
    done();
  });
  increments.join();
  sets.join();
}
