// A background worker finishes a job and wakes who waits for it before it has counted the job as done; who comes in
// between sees a job pending, and waits for a wake-up that has already been.
#include <condition_variable>
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Background {
 public:
  void submit() {
    std::lock_guard lock(mutex_);
    pending_++;
  }
  // The worker's end of a job.
  CLEAVE_ATOMIC void finish() {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    step_.notify_all();
    count_done();
  }
  // Waits until a job is done, if there is one.
  CLEAVE_ATOMIC void wait_step() {
    std::unique_lock lock(mutex_);
    unsigned before = pending_;
    if (before != 0) step_.wait(lock);
  }

 private:
  void count_done() {
    std::lock_guard lock(mutex_);
    pending_--;
  }

  std::recursive_mutex mutex_;
  std::condition_variable_any step_;
  unsigned pending_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 1);  // the worker and who waits for it
  for (unsigned i = 0; i < options.iters; i++) {
    start_watchdog(5);
    Background background;
    background.submit();
    run_threads(2, [&background](unsigned id) {
      if (id == 0)
        background.finish();
      else
        background.wait_step();
    });
  }
  return verdict(1, "");
}
