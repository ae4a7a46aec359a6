// A journal derives from a log, whose counts are a member by value: the derived class adds an entry in two steps, each a
// protected method that locks; the base class looks at both, through a virtual call and without knowing of the other.
#include <mutex>

#include "common/program.h"

struct Counts {
  long entries = 0, bytes = 0;
};

class Log {
 public:
  virtual ~Log() = default;
  virtual void append(long bytes) = 0;
  bool adds_up(long each) {
    std::lock_guard lock(mutex_);
    return counts_.bytes == each * counts_.entries;
  }

 protected:
  void count_entry() {
    std::lock_guard lock(mutex_);
    counts_.entries++;
  }
  void count_bytes(long bytes) {
    std::lock_guard lock(mutex_);
    counts_.bytes += bytes;
  }
  std::recursive_mutex mutex_;

 private:
  Counts counts_;
};

class Journal final : public Log {
 public:
  void append(long bytes) override {
#ifdef FIXED
    std::lock_guard together(mutex_);
#endif
    count_entry();
    count_bytes(bytes);
    std::lock_guard lock(mutex_);
    last_ = bytes;
  }

 private:
  long last_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 3);  // one writes, the others look
  Journal journal;
  Log& log = journal;
  std::atomic<bool> right{true};
  run_threads(options.threads, [&](unsigned id) {
    for (unsigned i = 0; i < options.iters; i++) {
      if (id == 0)
        log.append(8);
      else if (!log.adds_up(8))
        right = false;
    }
  });
  return verdict(right, "bytes and entries do not fit");
}
