// A list of one's own, its nodes objects of their own: who walks over them without the lock is a unit for all
// of them together, and so is the critical section that changes them all. -DCURSOR: each step of the walk
// locks. -DFREE: the list is a plain struct, and functions touch it. With -DREPAIRED the walk holds the lock.
// With -DAPART the other thread changes each node in a section of its own: no walk can tell.
#include <mutex>
#include <thread>

#include "steps.h"

int steps_done;

struct Item {
  int value;
  Item* next;
};

#ifdef FREE
struct Chain {
  std::mutex mutex;
  Item* head = nullptr;
};
void add(Chain& chain, int value) {
  std::lock_guard<std::mutex> guard(chain.mutex);
  chain.head = new Item{value, chain.head};
}
void double_all(Chain& chain) {
  std::lock_guard<std::mutex> guard(chain.mutex);
  for (Item* item = chain.head; item != nullptr; item = item->next) item->value *= 2;
}
#else
class Chain {
 public:
  class Place {
   public:
    explicit Place(Item* item) : item_(item) {}
    int operator*() const { return item_->value; }
    Place& operator++() {
      item_ = item_->next;
      return *this;
    }
    bool operator!=(const Place& other) const { return item_ != other.item_; }

   private:
    Item* item_;
  };
  class Cursor {
   public:
    explicit Cursor(Chain& chain) : chain_(chain), item_(chain.first()) {}
    bool done() const { return item_ == nullptr; }
    int value() const {
      std::lock_guard<std::mutex> guard(chain_.mutex);
      return item_->value;
    }
    void next() {
      std::lock_guard<std::mutex> guard(chain_.mutex);
      item_ = item_->next;
    }

   private:
    Chain& chain_;
    Item* item_;
  };

  Place begin() { return Place(head_); }
  Place end() { return Place(nullptr); }
  Item* first() {
    std::lock_guard<std::mutex> guard(mutex);
    return head_;
  }
  void add(int value) {
    std::lock_guard<std::mutex> guard(mutex);
    head_ = new Item{value, head_};
  }
  void double_all() {
    std::lock_guard<std::mutex> guard(mutex);
    for (Item* item = head_; item != nullptr; item = item->next) item->value *= 2;
  }
  void double_each() {
    for (Item* item = first(); item != nullptr; item = item->next) {
      std::lock_guard<std::mutex> guard(mutex);
      item->value *= 2;
    }
  }
  std::mutex mutex;

 private:
  Item* head_ = nullptr;
};
#endif

// The other thread comes after the first node.
void let_others() {
  static bool once = false;
  if (once) return;
  once = true;
  done();
  wait_for(2);
}

int total(Chain& chain) {
  int sum = 0;
#if defined(REPAIRED)
  {
    std::lock_guard<std::mutex> guard(chain.mutex);
#ifdef FREE
    for (Item* item = chain.head; item != nullptr; item = item->next) sum += item->value;
#else
    for (int value : chain) sum += value;
#endif
  }
  let_others();
#elif defined(FREE)
  for (Item* item = chain.head; item != nullptr; item = item->next) {
    sum += item->value;
    let_others();
  }
#elif defined(CURSOR)
  for (Chain::Cursor cursor(chain); !cursor.done(); cursor.next()) {
    sum += cursor.value();
    let_others();
  }
#else
  for (int value : chain) {
    sum += value;
    let_others();
  }
#endif
  return sum;
}

Chain chain;
int seen;

int main() {
#ifdef FREE
  for (int i = 1; i <= 3; ++i) add(chain, i);
#else
  for (int i = 1; i <= 3; ++i) chain.add(i);
#endif
  std::thread walker([] { seen = total(chain); });
  wait_for(1);
#if defined(FREE)
  double_all(chain);
#elif defined(APART)
  chain.double_each();
#else
  chain.double_all();
#endif
  done();
  walker.join();
}
