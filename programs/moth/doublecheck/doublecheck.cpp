// Optimistic update: fetch, compute, and store only if nobody stored meanwhile; otherwise try again.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Shared {
 public:
  int get() {
    std::lock_guard lock(mutex_);
    return field_;
  }
  bool update(int old_value, int new_value) {
    std::lock_guard lock(mutex_);
    if (field_ != old_value) return false;
    field_ = new_value;
    return true;
  }

 private:
  std::mutex mutex_;
  int field_ = 0;
};

// x + 1 never gives the same value twice, so an unchanged value means that nobody stored.
CLEAVE_ATOMIC static bool try_once(Shared& shared) {
  int value = shared.get();
  return shared.update(value, value + 1);
}

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 10);
  Shared shared;
  run_threads(options.threads, [&shared, &options](unsigned) {
    for (unsigned i = 0; i < options.iters;) i += try_once(shared);
  });
  return verdict(shared.get() == static_cast<int>(options.threads * options.iters), "an update was lost");
}
