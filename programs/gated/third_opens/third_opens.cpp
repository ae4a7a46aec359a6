// Two threads check and act only after a third thread has opened the window.
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

static Cell window, stock, sold;
static std::mutex whole;

static void buy() {
#ifdef FIXED
  std::lock_guard guard(whole);
#endif
  if (window.get() == 1 && stock.get() > 0) {
    stock.add(-1);
    sold.add(1);
  }
}

static void open_window() { window.set(1); }

int main() {
  stock.set(1);
  std::thread a(buy), b(buy), c(open_window);
  a.join();
  b.join();
  c.join();
  return stock.get() < 0 ? 1 : 0;
}
