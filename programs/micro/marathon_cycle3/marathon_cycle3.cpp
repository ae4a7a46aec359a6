// Three units that see each other in a circle: no two of them are in conflict both ways, and no single variable shows it.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Circle {
 public:
  // Each says whether it saw the one before it.
  CLEAVE_ATOMIC bool u1() {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    write(x_);
    return read(z_);
  }
  CLEAVE_ATOMIC bool u2() {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    bool seen = read(x_);
    write(y_);
    return seen;
  }
  CLEAVE_ATOMIC bool u3() {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    bool seen = read(y_);
    write(z_);
    return seen;
  }

 private:
  void write(int& variable) {
    std::lock_guard lock(mutex_);
    variable = 1;
  }
  bool read(const int& variable) {
    std::lock_guard lock(mutex_);
    return variable == 1;
  }

  std::recursive_mutex mutex_;
  int x_ = 0, y_ = 0, z_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 3, 1);  // three threads, as in the figure
  bool held = true;
  for (unsigned i = 0; i < options.iters && held; i++) {
    Circle circle;
    bool seen[3] = {};
    run_threads(3, [&circle, &seen](unsigned id) {
      seen[id] = id == 0 ? circle.u1() : id == 1 ? circle.u2() : circle.u3();
    });
    held = !(seen[0] && seen[1] && seen[2]);
  }
  return verdict(held, "each of the three came after the other two");
}
