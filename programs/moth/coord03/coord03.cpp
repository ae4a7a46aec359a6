// A pair of coordinates. T3 fetches x and y one by one and uses them together; T4 fetches x, and later both at once.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

struct Pair {
  int x, y;
};

class Coord {
 public:
  void set_xy(int x, int y) {
    std::lock_guard lock(mutex_);
    x_ = x;
    y_ = y;
  }
  int get_x() {
    std::lock_guard lock(mutex_);
    return x_;
  }
  int get_y() {
    std::lock_guard lock(mutex_);
    return y_;
  }
  Pair get_xy() {
    std::lock_guard lock(mutex_);
    return {x_, y_};
  }

 private:
  std::mutex mutex_;
  int x_ = 0, y_ = 0;
};

static std::atomic<int> used;    // where the values go, so that somebody needs them
static std::atomic<int> torn;    // pairs that were never set

static void use(int x) { used = x; }
static void use(Pair pair) {
  used = 10 * pair.x + pair.y;
  if (!(pair.x == 0 && pair.y == 0) && !(pair.x == 1 && pair.y == 2)) torn++;
}

CLEAVE_ATOMIC static void t1(Coord& coord) { coord.set_xy(1, 2); }
CLEAVE_ATOMIC static void t2(Coord& coord) { use(coord.get_x()); }
CLEAVE_ATOMIC static void t3(Coord& coord) {
#ifdef FIXED
  use(coord.get_xy());
#else
  int x = coord.get_x();
  int y = coord.get_y();
  use(Pair{x, y});
#endif
}
CLEAVE_ATOMIC static void t4(Coord& coord) {
  use(coord.get_x());
  use(coord.get_xy());
}

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 40, 1);
  for (unsigned i = 0; i < options.iters && torn == 0; i++) {
    Coord coord;
    run_threads(options.threads, [&coord](unsigned id) {
      switch (id % 4) {
        case 0: return t3(coord);
        case 1: return t1(coord);
        case 2: return t2(coord);
        default: return t4(coord);
      }
    });
  }
  return verdict(torn == 0, "a pair was seen that nobody set");
}
