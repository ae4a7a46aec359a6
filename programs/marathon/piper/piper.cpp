// Passengers wait for a seat with `if` where it must be `while`: woken, they sit down although the seat is taken again.
#include <condition_variable>
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Plane {
 public:
  CLEAVE_ATOMIC void fill(int passenger) {
    std::unique_lock lock(mutex_);
#ifdef FIXED
    while (last_ - first_ == kSeats) changed_.wait(lock);
#else
    if (last_ - first_ == kSeats) changed_.wait(lock);
#endif
    if (last_ - first_ == kSeats) pushed_out_++;
    seats_[last_++ % kSeats] = passenger;
    changed_.notify_all();
  }
  CLEAVE_ATOMIC int empty() {
    std::unique_lock lock(mutex_);
    while (last_ == first_) changed_.wait(lock);
    changed_.notify_all();
    return seats_[first_++ % kSeats];
  }
  int pushed_out() const { return pushed_out_; }

 private:
  static constexpr unsigned kSeats = 3;
  std::mutex mutex_;
  std::condition_variable changed_;
  int seats_[kSeats] = {};
  unsigned first_ = 0, last_ = 0;
  int pushed_out_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 8, 10);  // half of them fill, half of them empty
  start_watchdog(10);
  Plane plane;
  unsigned threads = options.threads / 2 * 2;
  run_threads(threads, [&plane, &options](unsigned id) {
    for (unsigned i = 0; i < options.iters; i++) {
      if (id % 2 == 0)
        plane.fill(static_cast<int>(i));
      else
        plane.empty();
    }
  });
  return verdict(plane.pushed_out() == 0, "a passenger was pushed out of his seat");
}
