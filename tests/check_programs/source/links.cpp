// Look for a key, then add another one, in two critical sections: only the links of the container's nodes
// tell that somebody was in between. CONTAINER says which one.
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "steps.h"

int steps_done;

class Store {
 public:
  void add(int key) {
    std::lock_guard<std::mutex> guard(mutex_);
    put(key);
  }
  void add_once(int key) {
#ifdef REPAIRED
    std::unique_lock<std::mutex> guard(mutex_);
    if (!has(key)) put(key);
    guard.unlock();
    done();
    wait_for(2);
#else
    bool there = contains(key);
    done();
    wait_for(2);
    if (!there) add(key);
#endif
  }

 private:
  bool contains(int key) {
    std::lock_guard<std::mutex> guard(mutex_);
    return has(key);
  }

  std::mutex mutex_;
  unsigned limit_ = 100;  // written before the container is made
#if CONTAINER == 1
  std::map<int, int> items_ = {{5, 5}, {9, 9}};
  bool has(int key) { return items_.find(key) != items_.end(); }
  void put(int key) { items_.emplace(key, key); }
#elif CONTAINER == 2
  std::set<int> items_ = {5, 9};
  bool has(int key) { return items_.count(key) != 0; }
  void put(int key) { items_.insert(key); }
#elif CONTAINER == 3
  std::multimap<int, int> items_ = {{5, 5}, {5, 9}};
  bool has(int key) {
    for (auto& item : items_) {
      if (item.second == key) return true;
    }
    return false;
  }
  void put(int key) { items_.emplace(5, key); }
#else
  std::list<int> items_ = {5, 9};
  bool has(int key) {
    for (int item : items_) {
      if (item == key) return true;
    }
    return false;
  }
  void put(int key) { items_.push_back(key); }
#endif
};

int main() {
  Store store;
  std::thread looks([&] { store.add_once(7); });
  std::thread adds([&] {
    wait_for(1);
    store.add(6);
    done();
  });
  looks.join();
  adds.join();
}
