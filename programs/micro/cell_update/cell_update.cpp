// A class template with a method template that takes a lambda, which makes a virtual call: it reads under the lock, computes
// without it and writes under it.
#include <mutex>

#include "common/program.h"

struct Step {
  virtual ~Step() = default;
  virtual long after(long value) const = 0;
};
struct Plus final : Step {
  explicit Plus(long amount) : amount(amount) {}
  long after(long value) const override { return value + amount; }
  const long amount;
};

template <class T>
class Cell {
 public:
  template <class Change>
  void update(Change change) {
    std::unique_lock lock(mutex_);
    T value = value_;
#ifndef FIXED
    lock.unlock();
    value = change(value);
    lock.lock();
#else
    value = change(value);
#endif
    value_ = value;
    changes_++;
  }
  bool is(T value, unsigned changes) const {
    std::lock_guard lock(mutex_);
    return value_ == value && changes_ == changes;
  }

 private:
  mutable std::mutex mutex_;
  T value_{};
  unsigned changes_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 3);
  Cell<long> cell;
  Plus minus_two(-2);
  const Step& step = minus_two;
  run_threads(options.threads, [&](unsigned) {
    for (unsigned i = 0; i < options.iters; i++) cell.update([&step](long value) { return step.after(value); });
  });
  unsigned changes = options.threads * options.iters;
  return verdict(cell.is(-2 * static_cast<long>(changes), changes), "a change is lost");
}
