// A check and act that runs when exactly two others have signed in.
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

static Cell signed_in, seats, taken;
static std::mutex whole;

static void sign() { signed_in.add(1); }

static void take() {
  if (signed_in.get() != 2) return;
#ifdef FIXED
  std::lock_guard guard(whole);
#endif
  if (seats.get() > 0) {
    seats.add(-1);
    taken.add(1);
  }
}

int main() {
  seats.set(1);
  std::thread t1(take), s1(sign), s2(sign), s3(sign), t2(take);
  t1.join();
  s1.join();
  s2.join();
  s3.join();
  t2.join();
  return seats.get() < 0 ? 1 : 0;
}
