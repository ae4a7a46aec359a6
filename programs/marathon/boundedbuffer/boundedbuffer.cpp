// A bounded buffer with one condition variable for both ends that wakes a single thread, perhaps the wrong one; and
// every thread counts itself finished under a lock of its own, which protects nothing.
#include <condition_variable>
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class BoundedBuffer {
 public:
  CLEAVE_ATOMIC void enqueue(int item) {
    std::unique_lock lock(mutex_);
    while (last_ - first_ == kCapacity) changed_.wait(lock);
    ring_[last_++ % kCapacity] = item;
    wake();
  }
  CLEAVE_ATOMIC int dequeue() {
    std::unique_lock lock(mutex_);
    while (last_ == first_) changed_.wait(lock);
    int item = ring_[first_++ % kCapacity];
    wake();
    return item;
  }

 private:
  void wake() {
#ifdef FIXED
    changed_.notify_all();
#else
    changed_.notify_one();
#endif
  }

  static constexpr unsigned kCapacity = 3;
  std::mutex mutex_;
  std::condition_variable changed_;
  int ring_[kCapacity] = {};
  unsigned first_ = 0, last_ = 0;
};

static Racy<int> finished;

class Worker {
 public:
  void produce(BoundedBuffer& buffer, unsigned items) {
    for (unsigned i = 0; i < items; i++) buffer.enqueue(static_cast<int>(i));
    finish();
  }
  void consume(BoundedBuffer& buffer, unsigned items) {
    for (unsigned i = 0; i < items; i++) buffer.dequeue();
    finish();
  }

 private:
  CLEAVE_ATOMIC void finish() {
#ifdef FIXED
    static std::mutex all;
    std::lock_guard lock(all);
#else
    std::lock_guard lock(own_);
#endif
    finished = finished + 1;
  }

  std::mutex own_;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 10);  // so many pairs of producers, and half as many consumers
  start_watchdog(10);
  unsigned consumers = options.threads, producers = 2 * options.threads;
  unsigned rounds = static_cast<unsigned>(option_number(argc, argv, "--rounds", 1));
  bool held = true;
  for (unsigned round = 0; round < rounds && held; round++) {
    BoundedBuffer buffer;
    finished = 0;
    run_threads(producers + consumers, [&buffer, &options, producers](unsigned id) {
      Worker worker;
      if (id < producers)
        worker.produce(buffer, options.iters);
      else
        worker.consume(buffer, 2 * options.iters);
    });
    held = finished == static_cast<int>(producers + consumers);
  }
  return verdict(held, "a thread that finished was not counted");
}
