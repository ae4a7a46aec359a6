// A deque behind a locking wrapper: looking at an end and taking from it are two calls.
#include <deque>
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class SyncDeque {
 public:
  bool empty() {
    std::lock_guard lock(mutex_);
    return items_.empty();
  }
  int front() {
    std::lock_guard lock(mutex_);
    return items_.empty() ? -1 : items_.front();
  }
  int pop_front() {
    std::lock_guard lock(mutex_);
    if (items_.empty()) return -1;
    int item = items_.front();
    items_.pop_front();
    return item;
  }
  void push_back(int item) {
    std::lock_guard lock(mutex_);
    items_.push_back(item);
  }
  std::recursive_mutex& monitor() { return mutex_; }

 private:
  std::recursive_mutex mutex_;
  std::deque<int> items_;
};

// Takes the first if it is even; what was looked at must be what is taken.
CLEAVE_ATOMIC static bool take_even(SyncDeque& deque) {
#ifdef FIXED
  std::lock_guard together(deque.monitor());
#endif
  if (deque.empty()) return true;
  int item = deque.front();
  return item % 2 != 0 || deque.pop_front() == item;
}
// Moves the first to the end: nothing is lost.
CLEAVE_ATOMIC static bool rotate(SyncDeque& deque) {
#ifdef FIXED
  std::lock_guard together(deque.monitor());
#endif
  if (deque.empty()) return true;
  int item = deque.pop_front();
  if (item != -1) deque.push_back(item);
  return item != -1;
}

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 10, 10);
  SyncDeque deque;
  std::atomic<int> surprises = 0;
  run_threads(options.threads, [&deque, &options, &surprises](unsigned id) {
    uint64_t random = options.seed + id;
    for (unsigned i = 0; i < options.iters; i++) {
      uint64_t choice = next_random(&random);
      if (choice % 3 == 0) deque.push_back(static_cast<int>(choice / 3 % 100));
      bool right = choice % 3 == 1 ? take_even(deque) : choice % 3 == 2 ? rotate(deque) : true;
      if (!right) surprises++;
    }
  });
  return verdict(surprises == 0, "another item was taken than was looked at");
}
