// Writers put numbers into a buffer and count them; a checker empties it. Some writers lock, some lock only the count.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Buffer {
 public:
  CLEAVE_ATOMIC void write_locked(int value) {
    std::lock_guard lock(mutex_);
    if (put(value)) count_++;
  }
  CLEAVE_ATOMIC void write_unlocked(int value) {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    if (!put(value)) return;
    std::lock_guard lock(mutex_);
    count_++;
  }
  CLEAVE_ATOMIC void empty() {
    std::lock_guard lock(mutex_);
    written_ += position_;
    position_ = 0;
  }
  bool balanced() const { return count_ == written_ + position_; }

 private:
  bool put(int value) {
    if (position_ >= kSize) return false;
    array_[position_] = value;
    position_ = position_ + 1;
    return true;
  }

  static constexpr int kSize = 1000;
  std::recursive_mutex mutex_;
  Racy<int> array_[kSize + 8];  // a writer that was late may be a little beyond the end
  Racy<int> position_ = 0;
  int count_ = 0, written_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 4, 20);  // the first empties the buffer
  Buffer buffer;
  run_threads(options.threads, [&buffer, &options](unsigned id) {
    for (unsigned i = 0; i < options.iters; i++) {
      if (id == 0)
        buffer.empty();
      else if (id % 2 == 1)
        buffer.write_unlocked(static_cast<int>(i));
      else
        buffer.write_locked(static_cast<int>(i));
    }
  });
  return verdict(buffer.balanced(), "numbers were counted that are not in the buffer");
}
