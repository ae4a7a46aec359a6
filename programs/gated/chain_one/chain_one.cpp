// A deposit is made only after another thread has opened the gate.
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

static Cell balance, done, gate0;

static void opener() { gate0.set(1); }

static void worker() {
  if (gate0.get() == 0) return;
  deposit(balance);
  done.add(1);
}

int main() {
  std::thread a(worker), open_(opener), b(worker);
  a.join();
  open_.join();
  b.join();
  return balance.get() == done.get() ? 0 : 1;
}
