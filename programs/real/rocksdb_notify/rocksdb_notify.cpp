// A store installs a new version after a compaction, gives its mutex back, and then tells listeners about the current
// version, which may be another thread's by then.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Store {
 public:
  // Whether the listener heard of the version that this compaction made.
  CLEAVE_ATOMIC bool compact() {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    int installed = install();
    return notify_completed() == installed;
  }

 private:
  int install() {
    std::lock_guard lock(mutex_);
    current_ = current_ + 1;
    return current_;
  }
  // What listeners are told; without the mutex, as in the report.
  int notify_completed() const { return current_; }

  std::recursive_mutex mutex_;
  Racy<int> current_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 3);
  Store store;
  std::atomic<bool> held = true;
  run_threads(options.threads, [&store, &options, &held](unsigned) {
    for (unsigned i = 0; i < options.iters; i++)
      if (!store.compact()) held = false;
  });
  return verdict(held, "a listener was told of a version that another compaction made");
}
