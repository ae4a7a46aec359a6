// Two connections find a hot journal and want to recover. Asking whether somebody holds the reserved lock is done by
// taking the lock and giving it back: who asks at that moment is told that somebody recovers already, and goes on.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Database {
 public:
  // A connection opens: it must not read before the journal has been played back.
  CLEAVE_ATOMIC bool open() {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    if (!check_reserved_lock()) recover();
    return recovered();
  }

 private:
  // True: somebody else is at it. Takes the lock to see whether it is free.
  bool check_reserved_lock() {
    if (!try_reserve()) return true;
    unreserve();
    return false;
  }
  bool try_reserve() {
    std::lock_guard lock(mutex_);
    if (reserved_) return false;
    reserved_ = true;
    return true;
  }
  void unreserve() {
    std::lock_guard lock(mutex_);
    reserved_ = false;
  }
  void recover() {
    std::lock_guard lock(mutex_);
    recovered_ = true;
  }
  bool recovered() {
    std::lock_guard lock(mutex_);
    return recovered_;
  }

  std::recursive_mutex mutex_;
  bool reserved_ = false, recovered_ = false;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 1);
  std::atomic<bool> held = true;
  for (unsigned i = 0; i < options.iters && held; i++) {
    Database database;
    run_threads(options.threads, [&database, &held](unsigned) {
      if (!database.open()) held = false;
    });
  }
  return verdict(held, "a connection went on before anybody had recovered");
}
