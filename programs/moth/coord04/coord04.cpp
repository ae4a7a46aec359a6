// A pair that can be swapped and reset; reset clears one coordinate after the other.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Coord {
 public:
  Coord(int x, int y) : x_(x), y_(y) {}

  CLEAVE_ATOMIC void swap() {
    std::lock_guard lock(mutex_);
    int old_x = x_;
    x_ = y_;
    y_ = old_x;
  }

  CLEAVE_ATOMIC void reset() {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    reset_x();
    reset_y();
  }

  bool is_clear() const { return x_ == 0 && y_ == 0; }

 private:
  void reset_x() {
    std::lock_guard lock(mutex_);
    x_ = 0;
  }
  void reset_y() {
    std::lock_guard lock(mutex_);
    y_ = 0;
  }

  std::recursive_mutex mutex_;
  int x_, y_;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 1);
  bool held = true;
  for (unsigned i = 0; i < options.iters && held; i++) {
    Coord coord(1, 2);
    run_threads(options.threads, [&coord](unsigned id) { id % 2 == 0 ? coord.reset() : coord.swap(); });
    held = coord.is_clear();
  }
  return verdict(held, "after swap and reset, in whatever order, a coordinate is left");
}
