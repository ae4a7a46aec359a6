// The buffer protocol with a real ring queue: every item is taken by one thread only, so working on it between taking
// and putting it back is right, although other threads use the queue meanwhile.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Buffer {
 public:
  // -1 when there is nothing.
  int next() {
    std::lock_guard lock(mutex_);
    if (head_ == tail_) return -1;
    return ring_[head_++ % kRing];
  }
  void add(int data) {
    std::lock_guard lock(mutex_);
    ring_[tail_++ % kRing] = data;
  }

 private:
  static constexpr unsigned kRing = 64;
  std::mutex mutex_;
  int ring_[kRing] = {};
  unsigned head_ = 0, tail_ = 0;
};

// Takes an item, works on it, puts it back.
CLEAVE_ATOMIC static void work(Buffer& buffer) {
  int item = buffer.next();
  if (item >= 0) buffer.add(item + 100);
}

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 3, 10);
  constexpr int kItems = 10;
  Buffer buffer;
  for (int i = 0; i < kItems; i++) buffer.add(i);
  run_threads(options.threads, [&buffer, &options](unsigned) {
    for (unsigned i = 0; i < options.iters; i++) work(buffer);
  });
  bool seen[kItems] = {};
  int found = 0;
  for (int item = buffer.next(); item >= 0; item = buffer.next()) {
    if (!seen[item % 100]) found++;
    seen[item % 100] = true;
  }
  return verdict(found == kItems, "an item was lost or doubled");
}
