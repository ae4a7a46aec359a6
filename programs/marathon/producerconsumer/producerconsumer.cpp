// Producers, a buffer that is right, and consumers who add to one total, each under a lock of its own.
#include <condition_variable>
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Buffer {
 public:
  explicit Buffer(unsigned producers) : producers_(producers) {}
  CLEAVE_ATOMIC void put(int item) {
    std::unique_lock lock(mutex_);
    while (used_ == kSize) changed_.wait(lock);
    array_[put_++ % kSize] = item;
    used_++;
    changed_.notify_all();
  }
  // False when all producers have halted and nothing is left.
  CLEAVE_ATOMIC bool get(int* item) {
    std::unique_lock lock(mutex_);
    while (used_ == 0 && producers_ > 0) changed_.wait(lock);
    if (used_ == 0) return false;
    *item = array_[get_++ % kSize];
    used_--;
    changed_.notify_all();
    return true;
  }
  CLEAVE_ATOMIC void halt() {
    std::lock_guard lock(mutex_);
    producers_--;
    changed_.notify_all();
  }

 private:
  static constexpr unsigned kSize = 4;
  std::mutex mutex_;
  std::condition_variable changed_;
  int array_[kSize] = {};
  unsigned put_ = 0, get_ = 0, used_ = 0, producers_;
};

static Racy<int> total;
#ifdef FIXED
static std::mutex total_mutex;
#endif

class Consumer {
 public:
  void run(Buffer& buffer) {
    for (int item; buffer.get(&item);) inc(item);
  }

 private:
  CLEAVE_ATOMIC void inc(int by) {
#ifdef FIXED
    std::lock_guard lock(total_mutex);
#else
    std::lock_guard lock(own_);
#endif
    total = total + by;
  }

  std::mutex own_;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 6, 10);  // half produce, half consume
  start_watchdog(20);
  unsigned half = options.threads / 2 > 0 ? options.threads / 2 : 1;
  Buffer buffer(half);
  run_threads(2 * half, [&buffer, &options, half](unsigned id) {
    if (id >= half) return Consumer().run(buffer);
    for (unsigned i = 0; i < options.iters; i++) buffer.put(1);
    buffer.halt();
  });
  return verdict(total == static_cast<int>(half * options.iters), "the total is not what was produced");
}
