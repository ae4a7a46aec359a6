// Two threads add one to a cell: fetch, add, store, each step protected, the sum not.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Cell {
 public:
  int get_value() {
    std::lock_guard lock(mutex_);
    return n_;
  }
  void set_value(int n) {
    std::lock_guard lock(mutex_);
    n_ = n;
  }
  std::recursive_mutex& monitor() { return mutex_; }

 private:
  std::recursive_mutex mutex_;
  int n_ = 0;
};

CLEAVE_ATOMIC static void increment(Cell& cell) {
#ifdef FIXED
  std::lock_guard whole(cell.monitor());
#endif
  int copy = cell.get_value();
  copy++;
  cell.set_value(copy);
}

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 1);
  Cell cell;
  run_threads(options.threads, [&cell, &options](unsigned) {
    for (unsigned i = 0; i < options.iters; i++) increment(cell);
  });
  return verdict(cell.get_value() == static_cast<int>(options.threads * options.iters), "an update was lost");
}
