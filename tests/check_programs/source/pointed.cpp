// An account whose state stands behind a plain pointer, as with a pimpl: who looks in one critical section
// and acts in the next is as little atomic as if the state were the account's own. With -DGETTER the state is
// asked through a getter, with -DSMART a std::shared_ptr holds it, with -DWALK it is a list, with -DCHAIN it
// is behind two pointers.
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>

#include "steps.h"

int steps_done;

struct Node {
  int amount;
  Node* next;
};

struct Part {
  int balance = 100;
};

// The elements of an array are destroyed in a loop whose pointer is found from itself.
struct Entry {
  int amount = 0;
  ~Entry() { amount = -1; }
};

struct State {
  int balance = 100;
  Part* part = new Part;
  int get() const { return balance; }
};

class Account {
 public:
  Account() {
    for (int amount : {1, 2}) head_ = new Node{amount, head_};
  }
  ~Account() { delete[] entries_; }
  bool take(int amount) {
#ifdef REPAIRED
    std::lock_guard<std::mutex> guard(mutex_);
    if (look() < amount) return false;
    act(amount);
#else
    {
      std::lock_guard<std::mutex> guard(mutex_);
      if (look() < amount) return false;
    }
    wait_between();
    std::lock_guard<std::mutex> guard(mutex_);
    act(amount);
#endif
    return true;
  }
  void put(int amount) {
    std::lock_guard<std::mutex> guard(mutex_);
    act(-amount);
    ++deposits_;
  }

 private:
  void wait_between() {
    if (std::this_thread::get_id() == main_) return;
    done();
    wait_for(2);
  }
  // Helpers on the same object are the object's too.
  int look() {
#if defined(GETTER)
    return state_->get();
#elif defined(WALK)
    int sum = 0;
    for (Node* node = head_; node != nullptr; node = node->next) sum += node->amount;
    return sum;
#elif defined(CHAIN)
    return state_->part->balance;
#else
    return state_->balance;
#endif
  }
  void act(int amount) {
#if defined(WALK)
    Node* last = head_;
    while (last->next != nullptr) last = last->next;
    last->amount -= amount;
#elif defined(CHAIN)
    state_->part->balance -= amount;
#else
    state_->balance -= amount;
#endif
  }

  std::mutex mutex_;
  std::thread::id main_ = std::this_thread::get_id();
#ifdef SMART
  std::shared_ptr<State> state_ = std::make_shared<State>();
#else
  State* state_ = new State;
#endif
  Node* head_ = nullptr;
  Entry* entries_ = new Entry[3];
  int deposits_ = 0;
};

int main() {
  Account account;
  std::thread taker([&] {
    account.take(2);
#ifdef REPAIRED
    done();
    wait_for(2);
#endif
  });
  wait_for(1);
  account.put(1);
  done();
  taker.join();
}
