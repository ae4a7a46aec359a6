// A session is made known to the event thread before its bandwidth is set up.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

struct Bandwidth {
  int limit = 100;
};

class Session {
 public:
  CLEAVE_ATOMIC void start() {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    set_running();
    set_bandwidth();
  }
  // The event thread's timer; -1 is where the client's assertion failed.
  CLEAVE_ATOMIC int allocate() {
    std::lock_guard lock(mutex_);
    if (!running_) return 0;
    return bandwidth_ == nullptr ? -1 : bandwidth_->limit;
  }

 private:
  void set_running() {
    std::lock_guard lock(mutex_);
    bandwidth_ = nullptr;
    running_ = true;
  }
  void set_bandwidth() {
    std::lock_guard lock(mutex_);
    bandwidth_ = &own_;
  }

  std::recursive_mutex mutex_;
  Bandwidth own_;
  Bandwidth* bandwidth_ = nullptr;
  bool running_ = false;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 1);  // the client and its event thread
  bool held = true;
  for (unsigned i = 0; i < options.iters && held; i++) {
    Session session;
    int allocated = 0;
    run_threads(2, [&session, &allocated](unsigned id) {
      if (id == 0)
        session.start();
      else
        allocated = session.allocate();
    });
    held = allocated != -1;
  }
  return verdict(held, "the event thread saw a session without bandwidth");
}
