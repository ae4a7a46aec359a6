// Customers ask whether the shop has anything, and then take an item; the last one may be gone by then.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Shop {
 public:
  bool is_empty() {
    std::lock_guard lock(mutex_);
    return items_ == -1;
  }
  // -1: there is none.
  int get_item() {
    std::lock_guard lock(mutex_);
    if (items_ == -1) return -1;
    return storage_[items_--];
  }
  CLEAVE_ATOMIC void put_item(int item) {
    std::lock_guard lock(mutex_);
    if (items_ + 1 < kStorage) storage_[++items_] = item;
  }
  // False if the item that was there is gone.
  CLEAVE_ATOMIC bool buy() {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    if (is_empty()) return true;
    return get_item() != -1;
  }

 private:
  static constexpr int kStorage = 1000;
  std::recursive_mutex mutex_;
  int storage_[kStorage] = {}, items_ = -1;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 4, 10);  // one supplier, the others buy
  Shop shop;
  std::atomic<int> gone = 0;
  run_threads(options.threads, [&shop, &options, &gone](unsigned id) {
    for (unsigned i = 0; i < options.iters; i++) {
      if (id == 0)
        shop.put_item(static_cast<int>(i));
      else if (i % 2 == 0 && !shop.buy())
        gone++;
    }
  });
  return verdict(gone == 0, "an item that was there was gone");
}
