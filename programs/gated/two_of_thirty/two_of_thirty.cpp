// Of thirty threads two deposit in two steps, the others use other cells.
#include <mutex>
#include <thread>
#include <vector>
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

static Cell balance, others[30];

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 30; ++i)
    threads.emplace_back([i] { deposit(i == 7 || i == 21 ? balance : others[i]); });
  for (std::thread& thread : threads) thread.join();
  return balance.get() == 2 ? 0 : 1;
}
