// One thread sets x, then y; the other reads x before both and y after both: no cycle on the object, since a
// set does not ask in which order a thread's units come. The two setters have a variable of their own at the
// same place of the stack. With -DSHARED it is one variable that the other thread knows too, and orders them.
#include <thread>

#include "steps.h"

int steps_done;
int known;

__attribute__((noinline)) void change(int* value) { *value += 1; }

class Point {
 public:
  __attribute__((noinline)) void set_x(int value) {
#ifdef SHARED
    known = known + 1;
#else
    change(&value);
#endif
    x_ = value;
  }
  __attribute__((noinline)) void set_y(int value) {
#ifdef SHARED
    known = known + 1;
#else
    change(&value);
#endif
    y_ = value;
  }
  int sum() {
    int x = x_;
    done();
    wait_for(2);
    return x + y_;
  }

 private:
  int x_ = 0, y_ = 0;
};

Point point;
int result;

int main() {
  std::thread setter([] {
    wait_for(1);
    point.set_x(1);
    point.set_y(2);
    done();
  });
  known = 1;
  result = point.sum();
  setter.join();
}
