// Monte Carlo: threads compute paths and file their results; the place is asked for, then the result is put there.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Results {
 public:
  CLEAVE_ATOMIC void file(int result) {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    int place = size();
    put(place, result);
  }
  int size() {
    std::lock_guard lock(mutex_);
    return size_;
  }

 private:
  void put(int place, int result) {
    std::lock_guard lock(mutex_);
    if (place >= kMost) return;
    results_[place] = result;
    size_ = place + 1;
  }

  static constexpr int kMost = 1024;
  std::recursive_mutex mutex_;
  int results_[kMost] = {}, size_ = 0;
};

// A random walk of 16 steps.
static int walk(uint64_t seed) {
  int place = 0;
  for (int step = 0; step < 16; step++) place += next_random(&seed) % 2 == 0 ? 1 : -1;
  return place;
}

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 4, 5);
  Results results;
  unsigned paths = options.iters * options.threads < 1024 ? options.iters : 1024 / options.threads;
  run_threads(options.threads, [&results, &options, paths](unsigned id) {
    for (unsigned i = 0; i < paths; i++) results.file(walk(options.seed + id * paths + i));
  });
  return verdict(results.size() == static_cast<int>(paths * options.threads), "a result was overwritten");
}
