// A map behind a locking wrapper, used to count: find, then insert or replace.
#include <map>
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class SyncMap {
 public:
  // 0 where there is nothing.
  int find(int key) {
    std::lock_guard lock(mutex_);
    auto place = items_.find(key);
    return place == items_.end() ? 0 : place->second;
  }
  void insert(int key, int value) {
    std::lock_guard lock(mutex_);
    items_[key] = value;
  }
  int sum() {
    std::lock_guard lock(mutex_);
    int sum = 0;
    for (auto& [key, value] : items_) sum += value;
    return sum;
  }
  std::recursive_mutex& monitor() { return mutex_; }

 private:
  std::recursive_mutex mutex_;
  std::map<int, int> items_;
};

CLEAVE_ATOMIC static void count(SyncMap& map, int key) {
#ifdef FIXED
  std::lock_guard together(map.monitor());
#endif
  int before = map.find(key);
  map.insert(key, before + 1);
}

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 10, 10);
  SyncMap map;
  run_threads(options.threads, [&map, &options](unsigned id) {
    uint64_t random = options.seed + id;
    for (unsigned i = 0; i < options.iters; i++) count(map, static_cast<int>(next_random(&random) % 4));
  });
  return verdict(map.sum() == static_cast<int>(options.threads * options.iters), "a count was lost");
}
