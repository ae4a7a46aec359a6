// Two sets in one object, and a unit over both: what happens to the one in between does not concern the
// other. -DMERGED: all three fields are one set, and then it does.
#include <mutex>
#include <thread>

#include "cleave/annotate.h"
#include "steps.h"

#ifdef MERGED
#define MONEY
#define COUNT
#else
#define MONEY CLEAVE_SET("money")
#define COUNT CLEAVE_SET("count")
#endif

int steps_done;

class Account {
 public:
  int look() {
    int seen = balance();
    done();
    wait_for(2);
    return seen + operations();
  }
  void deposit(int amount) {
    std::lock_guard<std::mutex> guard(mutex_);
    balance_ += amount;
    operations_++;
  }

 private:
  int balance() {
    std::lock_guard<std::mutex> guard(mutex_);
    return balance_;
  }
  int operations() {
    std::lock_guard<std::mutex> guard(mutex_);
    return operations_;
  }
  std::mutex mutex_;
  MONEY int balance_ = 100;
  COUNT int operations_ = 0;
};

Account account;
int looked;

int main() {
  std::thread reader([] { looked = account.look(); });
  wait_for(1);
  account.deposit(5);
  done();
  reader.join();
}
