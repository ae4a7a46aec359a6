// A blocking queue, right in itself. Its users look at the size and then take or put without waiting, and are refused.
#include <condition_variable>
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class BlockingQueue {
 public:
  CLEAVE_ATOMIC void put(int item) {
    std::unique_lock lock(mutex_);
    while (count_ == kCapacity) changed_.wait(lock);
    ring_[(first_ + count_++) % kCapacity] = item;
    changed_.notify_all();
  }
  CLEAVE_ATOMIC int take() {
    std::unique_lock lock(mutex_);
    while (count_ == 0) changed_.wait(lock);
    return remove();
  }
  // False if full; false if empty.
  bool offer(int item) {
    std::unique_lock lock(mutex_);
    if (count_ == kCapacity) return false;
    ring_[(first_ + count_++) % kCapacity] = item;
    changed_.notify_all();
    return true;
  }
  bool poll(int* item) {
    std::unique_lock lock(mutex_);
    if (count_ == 0) return false;
    *item = remove();
    return true;
  }
  unsigned size() {
    std::unique_lock lock(mutex_);
    return count_;
  }
  static constexpr unsigned kCapacity = 4;

 private:
  int remove() {
    int item = ring_[first_];
    first_ = (first_ + 1) % kCapacity;
    count_--;
    changed_.notify_all();
    return item;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int ring_[kCapacity] = {};
  unsigned first_ = 0, count_ = 0;
};

// False if there was something and it is gone, or there was room and it is taken.
CLEAVE_ATOMIC static bool take_if_any(BlockingQueue& queue) {
  int item = 0;
#ifdef FIXED
  queue.poll(&item);
  return true;
#else
  return queue.size() == 0 || queue.poll(&item);
#endif
}
CLEAVE_ATOMIC static bool put_if_room(BlockingQueue& queue, int item) {
#ifdef FIXED
  queue.offer(item);
  return true;
#else
  return queue.size() == BlockingQueue::kCapacity || queue.offer(item);
#endif
}

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 10, 10);
  BlockingQueue queue, mail;  // the first two threads use `mail` as it is meant: put and take, and wait
  std::atomic<int> refused = 0;
  run_threads(options.threads < 3 ? 3 : options.threads, [&](unsigned id) {
    uint64_t random = options.seed + id;
    for (unsigned i = 0; i < options.iters; i++) {
      if (id == 0) {
        mail.put(static_cast<int>(i));
      } else if (id == 1) {
        mail.take();
      } else if (!(next_random(&random) % 2 == 0 ? take_if_any(queue) : put_if_room(queue, 1))) {
        refused++;
      }
    }
  });
  return verdict(refused == 0, "what was there was gone");
}
