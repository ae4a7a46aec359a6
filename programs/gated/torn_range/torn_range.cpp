// Both ends of a range are set under locks of their own, and read so; only after it was enabled.
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

static Cell low, high, enabled, torn;
static std::mutex whole;

static void move() {
#ifdef FIXED
  std::lock_guard guard(whole);
#endif
  low.set(10);
  high.set(20);
  enabled.set(1);
}

static void look() {
  if (enabled.get() == 0) return;
#ifdef FIXED
  std::lock_guard guard(whole);
#endif
  int from = low.get(), to = high.get();
  if (to - from != 10) torn.add(1);
}

static void move_on() {
  if (enabled.get() == 0) return;
#ifdef FIXED
  std::lock_guard guard(whole);
#endif
  low.set(30);
  high.set(40);
}

int main() {
  std::thread a(look), b(move_on), c(move);
  a.join();
  b.join();
  c.join();
  return torn.get() == 0 ? 0 : 1;
}
