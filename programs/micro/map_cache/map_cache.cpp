// A cache in a std::map: look under the lock, load without it, put under the lock again. Two who miss at once both load, and
// one result is thrown away.
#include <map>
#include <mutex>

#include "common/program.h"

class Cache {
 public:
  int get(int key) {
    std::unique_lock lock(mutex_);
    auto place = values_.find(key);
    if (place != values_.end()) return place->second;
#ifndef FIXED
    lock.unlock();
#endif
    int value = load(key);
#ifndef FIXED
    lock.lock();
#endif
    return values_.emplace(key, value).first->second;
  }
  unsigned size() {
    std::lock_guard lock(mutex_);
    unsigned size = 0;
    for (auto at = values_.begin(); at != values_.end(); ++at) size++;
    return size;
  }
  unsigned loads() const { return loads_; }

 private:
  int load(int key) {
    loads_++;
    return 3 * key + 1;
  }

  std::mutex mutex_;
  std::map<int, int> values_;
  std::atomic<unsigned> loads_{0};
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 3);
  Cache cache;
  run_threads(options.threads, [&cache, &options](unsigned id) {
    uint64_t random = options.seed + id;
    for (unsigned i = 0; i < options.iters; i++) cache.get(static_cast<int>(next_random(&random) % 5000));
  });
  return verdict(cache.loads() == cache.size(), "a value was loaded twice");
}
