// A member held by std::unique_ptr is part of its object: balance and the journal's entries belong together.
// With -DRAW a plain pointer holds it, which says nothing; -DHELD='CLEAVE_OWNED' says it.
#include <memory>
#include <mutex>
#include <thread>

#ifdef RAW
#include "cleave/annotate.h"
#endif
#include "steps.h"

int steps_done;

class Journal {
 public:
  void add(int amount) {
    last_ = amount;
    ++entries_;
  }
  int entries() { return last_ == 0 ? 0 : entries_; }

 private:
  int entries_ = 0, last_ = 0;
};

class Ledger {
 public:
  Ledger() : journal_(new Journal) {}
  void deposit(int amount) {
#ifdef REPAIRED
    {
      std::lock_guard<std::mutex> guard(mutex_);
      balance_ += amount;
      journal_->add(amount);
    }
    done();
    wait_for(2);
#else
    {
      std::lock_guard<std::mutex> guard(mutex_);
      balance_ += amount;
    }
    done();
    wait_for(2);
    std::lock_guard<std::mutex> guard(mutex_);
    journal_->add(amount);
#endif
  }
  bool audit() {
    std::lock_guard<std::mutex> guard(mutex_);
    return (balance_ > 0) == (journal_->entries() > 0);
  }

 private:
  std::mutex mutex_;
  int balance_ = 0;
#ifdef RAW
  HELD Journal* journal_;
#else
  std::unique_ptr<Journal> journal_;
#endif
};

Ledger ledger;
bool fine;

int main() {
  std::thread depositor([] { ledger.deposit(5); });
  wait_for(1);
  fine = ledger.audit();
  done();
  depositor.join();
}
