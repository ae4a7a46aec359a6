// The deposit is in an exception handler that is entered after another thread has closed the store.
#include <mutex>
#include <thread>
#include <stdexcept>
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

static Cell refused, seen, closed;

static void take() {
  if (closed.get() != 0) throw std::runtime_error("closed");
}

static void worker() {
  try {
    take();
  } catch (const std::exception&) {
    deposit(refused);
    seen.add(1);
  }
}

int main() {
  std::thread a(worker), close([] { closed.set(1); }), b(worker);
  a.join();
  close.join();
  b.join();
  return refused.get() == seen.get() ? 0 : 1;
}
