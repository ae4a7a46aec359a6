// One method after the other is nobody's unit by the heuristics. -DMARK_FUNCTION and -DMARK_BLOCK say that it
// is one; -DMARK_METHOD says that a method is none.
#include <mutex>
#include <thread>

#include "cleave/annotate.h"
#include "steps.h"

int steps_done;

class Account {
 public:
  void take(int amount) {
    std::lock_guard<std::mutex> guard(mutex_);
    checking_ = checking_ - amount;
  }
  void give(int amount) {
    std::lock_guard<std::mutex> guard(mutex_);
    savings_ = savings_ + amount;
  }
#ifdef MARK_METHOD
  CLEAVE_NOT_ATOMIC
#endif
  void move(int amount) {
    take(amount);
    done();
    wait_for(2);
    give(amount);
  }
#if defined(MARK_FUNCTION) || defined(MARK_BLOCK)
  CLEAVE_ATOMIC
#endif
  int total() {
    std::lock_guard<std::mutex> guard(mutex_);
    return checking_ + savings_;
  }

 private:
  std::mutex mutex_;
  int checking_ = 10, savings_ = 0;
};

Account account;
int seen;

#ifdef MARK_FUNCTION
CLEAVE_ATOMIC
#endif
void transfer(int amount) {
#ifdef MARK_BLOCK
  CLEAVE_ATOMIC_BEGIN("payment");
#endif
  account.take(amount);
  done();
  wait_for(2);
  account.give(amount);
#ifdef MARK_BLOCK
  CLEAVE_ATOMIC_END();
#endif
}

int main() {
#ifdef BY_METHOD
  std::thread mover([] { account.move(3); });
#else
  std::thread mover([] { transfer(3); });
#endif
  wait_for(1);
  seen = account.total();
  done();
  mover.join();
}
