// Only the fifth round of a loop deposits in two steps.
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

static Cell balance;

static void worker() {
  for (int round = 1; round <= 5; ++round) {
    if (round == 5)
      deposit(balance);
    else
      balance.add(1);
  }
}

int main() {
  std::thread a(worker), b(worker);
  a.join();
  b.join();
  return balance.get() == 10 ? 0 : 1;
}
