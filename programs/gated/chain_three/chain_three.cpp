// A deposit is made only after three threads have opened gates, one after the other.
#include <mutex>
#include <thread>

// A value behind a lock of its own.
class Cell {
 public:
  int get() {
    std::lock_guard guard(mutex_);
    return value_;
  }
  void set(int value) {
    std::lock_guard guard(mutex_);
    value_ = value;
  }
  void add(int amount) {
    std::lock_guard guard(mutex_);
    value_ += amount;
  }

 private:
  std::mutex mutex_;
  int value_ = 0;
};

// Reads and writes in two steps; the repaired one in one.
static void deposit(Cell& cell) {
#ifdef FIXED
  cell.add(1);
#else
  cell.set(cell.get() + 1);
#endif
}

static Cell balance, done, gate0, gate1, gate2;

static void opener() { gate0.set(1); }

static void link1() {
  if (gate0.get() == 1) gate1.set(1);
}

static void link2() {
  if (gate1.get() == 1) gate2.set(1);
}

static void worker() {
  if (gate2.get() == 0) return;
  deposit(balance);
  done.add(1);
}

int main() {
  std::thread a(worker), link_1(link1), link_2(link2), open_(opener), b(worker);
  a.join();
  link_1.join();
  link_2.join();
  open_.join();
  b.join();
  return balance.get() == done.get() ? 0 : 1;
}
