// The last thread that is started finds the first one not ready.
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

static Cell ready, missed;

static void prepare() { ready.set(1); }
static void use() {
  if (ready.get() == 0) missed.add(1);
}

int main() {
  std::thread a(prepare);
#ifdef FIXED
  a.join();
#endif
  std::thread b(use);
  b.join();
#ifndef FIXED
  a.join();
#endif
  return missed.get();
}
