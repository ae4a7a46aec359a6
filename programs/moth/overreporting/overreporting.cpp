// A lazily filled map: whoever comes first fills it, and it does no harm if two do, since both write the same.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Map {
 public:
  void init() {
    if (!init_done_) sets();
  }
  int get(int key) {
    std::lock_guard lock(mutex_);
    for (int i = 0; i < kSize; i++)
      if (keys_[i] == key) return values_[i];
    return -1;
  }

 private:
  void sets() {
    std::lock_guard lock(mutex_);
    for (int i = 0; i < kSize; i++) {
      keys_[i] = 10 * i;
      values_[i] = i * i;
    }
    init_done_ = true;
  }

  static constexpr int kSize = 4;
  std::mutex mutex_;
  int keys_[kSize] = {-1, -1, -1, -1}, values_[kSize] = {};
  Racy<bool> init_done_ = false;
};

CLEAVE_ATOMIC static int fetch(Map& map, int key) {
  map.init();
  return map.get(key);
}

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 1);
  std::atomic<int> wrong = 0;
  for (unsigned i = 0; i < options.iters; i++) {
    Map map;
    run_threads(options.threads, [&map, &wrong](unsigned id) {
      int index = static_cast<int>(id % 4);
      if (fetch(map, 10 * index) != index * index) wrong++;
    });
  }
  return verdict(wrong == 0, "a value was not there after init");
}
