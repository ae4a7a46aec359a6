// A loading cache that checks again after the slow load.
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class PageCache {
 public:
  const std::string& page(int number) {
    std::unique_lock<std::mutex> lock(mutex_);
    auto it = pages_.find(number);
    if (it != pages_.end()) return it->second;
    lock.unlock();
    std::string text = load(number);
    lock.lock();
    it = pages_.find(number);
    if (it == pages_.end()) {
      it = pages_.emplace(number, std::move(text)).first;
      stored_++;
    }
    return it->second;
  }
  int stored() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return stored_;
  }

 private:
  static std::string load(int number) { return "page " + std::to_string(number); }

  mutable std::mutex mutex_;
  std::map<int, std::string> pages_;  // pages are never removed
  int stored_ = 0;
};

int main() {
  PageCache cache;
  std::atomic<bool> wrong{false};
  std::vector<std::thread> readers;
  for (int r = 0; r < 3; r++)
    readers.emplace_back([&] {
      for (int number = 0; number < 3; number++)
        if (cache.page(number) != "page " + std::to_string(number)) wrong = true;
    });
  for (auto& reader : readers) reader.join();
  if (wrong || cache.stored() != 3) {
    std::printf("wrong: %d pages stored\n", cache.stored());
    return 1;
  }
  std::puts("3 pages stored");
  return 0;
}
