// A handler works off requests; releasers leave a note, raise the flag, and release if theirs is the only note. Two
// notes at once, and nobody releases, or both see the flag down, and too many do.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Manager {
 public:
  explicit Manager(int requests) : requests_(requests) {}

  // One request at most; false when there are none left.
  CLEAVE_ATOMIC bool handle() {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    if (requests_ <= 0) return false;
    if (flag_) {
      requests_ = requests_ - 1;
      flag_ = false;
    }
    return true;
  }

  // Releases a block if the flag is down and there are requests; false when there are none left.
  CLEAVE_ATOMIC bool try_release() {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    if (requests_ <= 0) return false;
    if (!flag_ && requests_ > 0) release_block();
    return true;
  }

  int released() const { return released_; }

 private:
  void release_block() {
    change_notes(1);
    bool only_mine = notes() == 1;
    if (only_mine) released_ = released_ + 1;
    flag_ = true;
    change_notes(-1);
  }
  void change_notes(int by) {
    std::lock_guard lock(notes_mutex_);
    notes_ += by;
  }
  int notes() {
    std::lock_guard lock(notes_mutex_);
    return notes_;
  }

#ifdef FIXED
  std::mutex mutex_;
#endif
  Racy<int> requests_, released_ = 0;
  Racy<bool> flag_ = false;
  std::mutex notes_mutex_;
  int notes_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 3, 5);  // one handler, the others release
  start_watchdog(20);
  int requests = static_cast<int>(options.iters);
  unsigned threads = options.threads < 2 ? 2 : options.threads;
  Manager manager(requests);
  run_threads(threads, [&manager](unsigned id) {
    for (bool more = true; more; std::this_thread::yield()) more = id == 0 ? manager.handle() : manager.try_release();
  });
  return verdict(manager.released() == requests, "blocks were released that nobody asked for, or not released");
}
