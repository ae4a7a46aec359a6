// Listeners in a std::list, each at most once: look for it under the lock, then add it under the lock.
#include <list>
#include <map>
#include <mutex>

#include "common/program.h"

class Listeners {
 public:
  void add_once(int who) {
#ifdef FIXED
    std::lock_guard together(mutex_);
#endif
    if (!contains(who)) add(who);
  }
  void remove(int who) {
    std::lock_guard lock(mutex_);
    for (auto at = all_.begin(); at != all_.end(); ++at) {
      if (*at != who) continue;
      all_.erase(at);
      return;
    }
  }
  bool each_once() {
    std::lock_guard lock(mutex_);
    std::map<int, unsigned> count;
    for (int who : all_) {
      if (++count[who] > 1) return false;
    }
    return true;
  }

 private:
  bool contains(int who) {
    std::lock_guard lock(mutex_);
    for (int other : all_) {
      if (other == who) return true;
    }
    return false;
  }
  void add(int who) {
    std::lock_guard lock(mutex_);
    all_.push_back(who);
  }

  std::recursive_mutex mutex_;
  std::list<int> all_;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 2);
  Listeners listeners;
  std::atomic<bool> once{true};
  run_threads(options.threads, [&](unsigned id) {
    uint64_t random = options.seed + id;
    for (unsigned i = 0; i < options.iters; i++) {
      int who = static_cast<int>(next_random(&random) % 100);
      listeners.add_once(who);
      if (!listeners.each_once()) once = false;
      listeners.remove(who);
    }
  });
  return verdict(once, "a listener was there twice");
}
