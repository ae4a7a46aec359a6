// The deposit is in a callback that another thread registers.
#include <mutex>
#include <thread>
#include <functional>
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

static Cell balance, done;
static std::mutex hook_mutex;
static std::function<void()> hook;

static void install() {
  std::lock_guard guard(hook_mutex);
  hook = [] {
    deposit(balance);
    done.add(1);
  };
}

static void worker() {
  std::function<void()> mine;
  {
    std::lock_guard guard(hook_mutex);
    mine = hook;
  }
  if (mine) mine();
}

int main() {
  std::thread a(worker), i(install), b(worker);
  a.join();
  i.join();
  b.join();
  return balance.get() == done.get() ? 0 : 1;
}
