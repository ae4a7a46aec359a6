// What one object's container hands to another's is no longer the first one's. MOVE says how it goes.
#include <list>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "steps.h"

int steps_done;

#if MOVE == 5
using Items = std::list<int>;
#elif MOVE >= 6
using Items = std::map<int, int>;
#else
using Items = std::vector<int>;
#endif

void fill(Items& items) {
#if MOVE >= 6
  items[0] = 1;
#else
  items.assign(4, 1);
#endif
}

// Not a field of Back: what only Back reached through its pointers would be Back's for that reason.
static int* first;

class Front {
 public:
  Front() { fill(items_); }
  bool any() const { return !items_.empty() && ready_; }
  Items items_;

 private:
  bool ready_ = true;
};

class Back {
 public:
  void take(Items& items) {
#if MOVE == 1
    items_ = std::move(items);
#elif MOVE == 2
    items_.swap(items);
#elif MOVE == 3
    std::swap(items_, items);
#elif MOVE == 4
    Items other(std::move(items));
    items_ = std::move(other);
#elif MOVE == 5
    items_.splice(items_.begin(), items, items.begin());
#elif MOVE == 6
    items_.insert(items.extract(0));
#else
    items_.merge(items);
#endif
  }
  void increment() {
    int now = *first;
    done();
    wait_for(2);
    *first = now + 1;
  }
  void raise(int value) {
    if (*first < value) *first = value;
  }
  void point() {
#if MOVE >= 6
    first = &items_[0];
#else
    first = &items_.front();
#endif
  }

 private:
  Items items_;
};

int main() {
  static Front front;
  static Back back;
#ifdef FROM_LOCAL
  Items local;
  fill(local);
  back.take(local);
#else
  if (front.any()) back.take(front.items_);
#endif
  back.point();
  std::thread increments([&] { back.increment(); });
  std::thread sets([&] {
    wait_for(1);
    back.raise(9);
    done();
  });
  increments.join();
  sets.join();
}
