// A nested class shows an object's insides step by step: its user is a unit for the object, as a loop over an
// iterator is. With -DUNITFOR the same by annotation: a free function is a unit for its parameter.
#include <mutex>
#include <thread>

#include "cleave/annotate.h"
#include "steps.h"

int steps_done;

class List {
 public:
  class Cursor {
   public:
    explicit Cursor(List& list) : list_(list) {}
    bool at_end() {
      std::lock_guard<std::mutex> guard(list_.mutex_);
      return at_ >= list_.size_;
    }
    int next() {
      std::lock_guard<std::mutex> guard(list_.mutex_);
      return list_.items_[at_++];
    }

   private:
    List& list_;
    int at_ = 0;
  };

  void clear() {
    std::lock_guard<std::mutex> guard(mutex_);
    size_ = 0;
    items_[0] = -1;
  }
  int size() {
    std::lock_guard<std::mutex> guard(mutex_);
    return size_;
  }
  int first() {
    std::lock_guard<std::mutex> guard(mutex_);
    return items_[0];
  }

 private:
  std::mutex mutex_;
  int items_[4] = {7, 8, 9, 10};
  int size_ = 4;
};

List list;
int seen;

#ifdef UNITFOR
int first_of(CLEAVE_UNITFOR List& from) {
  if (from.size() == 0) return 0;
  done();
  wait_for(2);
  return from.first();
}
#else
int first_of(List& from) {
  List::Cursor cursor(from);
  if (cursor.at_end()) return 0;
  done();
  wait_for(2);
  return cursor.next();
}
#endif

int main() {
  std::thread reader([] { seen = first_of(list); });
  wait_for(1);
  list.clear();
  done();
  reader.join();
}
