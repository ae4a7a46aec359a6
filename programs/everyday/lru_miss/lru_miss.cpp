// A small LRU cache in front of a slow function.
#include <cstdio>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

class LruCache {
 public:
  LruCache(std::size_t capacity, std::function<int(int)> loader)
      : capacity_(capacity), loader_(std::move(loader)) {}

  int fetch(int key) {
    int value;
    if (lookup(key, value)) return value;
    value = loader_(key);
    insert(key, value);
    return value;
  }

  bool consistent() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return order_.size() == index_.size();
  }

 private:
  using Order = std::list<std::pair<int, int>>;

  bool lookup(int key, int& value) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = index_.find(key);
    if (it == index_.end()) return false;
    order_.splice(order_.begin(), order_, it->second);
    value = it->second->second;
    return true;
  }

  void insert(int key, int value) {
    std::lock_guard<std::mutex> lock(mutex_);
#ifdef FIXED
    if (index_.count(key)) return;
#endif
    order_.emplace_front(key, value);
    index_[key] = order_.begin();
    if (order_.size() > capacity_) {
      index_.erase(order_.back().first);
      order_.pop_back();
    }
  }

  const std::size_t capacity_;
  const std::function<int(int)> loader_;
  mutable std::mutex mutex_;
  Order order_;
  std::unordered_map<int, Order::iterator> index_;
};

int main() {
  LruCache cache(4, [](int key) { return key * key; });
  bool right[2] = {true, true};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; t++)
    threads.emplace_back([&, t] {
      for (int key : {1, 2, 3, 1, 2})
        if (cache.fetch(key) != key * key) right[t] = false;
    });
  for (auto& thread : threads) thread.join();
  if (!right[0] || !right[1] || !cache.consistent()) {
    std::puts("wrong: a key is in the recency list twice");
    return 1;
  }
  std::puts("the cache is consistent");
  return 0;
}
