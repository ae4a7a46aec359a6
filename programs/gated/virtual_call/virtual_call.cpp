// The deposit is in a virtual function of an object that another thread puts in place.
#include <mutex>
#include <thread>
#include <atomic>
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

struct Policy {
  virtual void apply() {}
  virtual ~Policy() = default;
};
struct Counting : Policy {
  void apply() override {
    deposit(balance);
    done.add(1);
  }
};

static Policy nothing;
static Counting counting;
static std::atomic<Policy*> current{&nothing};

static void worker() { current.load()->apply(); }

int main() {
  std::thread a(worker), change([] { current.store(&counting); }), b(worker);
  a.join();
  change.join();
  b.join();
  return balance.get() == done.get() ? 0 : 1;
}
