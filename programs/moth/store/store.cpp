// A store: clients order, workers sell, suppliers deliver. Workers ask whether there are orders and then treat one;
// a product's number and its sold-out flag change one after the other.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Orders {
 public:
  void add(int units) {
    std::lock_guard lock(mutex_);
    if (count_ < kMost) units_[count_++] = units;
  }
  bool has_orders() {
    std::lock_guard lock(mutex_);
    return count_ > 0;
  }
  // Units of the order, 0 if there is none.
  int take() {
    std::lock_guard lock(mutex_);
    return count_ > 0 ? units_[--count_] : 0;
  }
#ifdef FIXED
  std::recursive_mutex& monitor() { return mutex_; }
#endif

 private:
  static constexpr int kMost = 1024;
  std::recursive_mutex mutex_;
  int units_[kMost] = {}, count_ = 0;
};

class Product {
 public:
  CLEAVE_ATOMIC void sell(int units) {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    if (change_number(-units) == 0) set_sold_out(true);
  }
  CLEAVE_ATOMIC void deliver(int units) {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    change_number(units);
    set_sold_out(false);
  }
  CLEAVE_ATOMIC bool is_consistent() {
    std::lock_guard lock(mutex_);
    return sold_out_ == (number_ == 0);
  }

 private:
  // How many are left.
  int change_number(int by) {
    std::lock_guard lock(mutex_);
    number_ += by;
    if (number_ < 0) number_ = 0;
    return number_;
  }
  void set_sold_out(bool sold_out) {
    std::lock_guard lock(mutex_);
    sold_out_ = sold_out;
  }

  std::recursive_mutex mutex_;
  int number_ = 0;
  bool sold_out_ = true;
};

struct Store {
  Orders orders;
  Product product;
  std::atomic<int> null_orders = 0, inconsistencies = 0;
};

CLEAVE_ATOMIC static void work(Store& store) {
#ifdef FIXED
  std::lock_guard whole(store.orders.monitor());
#endif
  if (!store.orders.has_orders()) return;
  int units = store.orders.take();
  if (units == 0)
    store.null_orders++;
  else
    store.product.sell(units);
}

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 3, 5);  // so many clients, workers and suppliers each
  Store store;
  run_threads(3 * options.threads, [&store, &options](unsigned id) {
    uint64_t random = options.seed + id;
    for (unsigned i = 0; i < options.iters; i++) {
      int units = 1 + static_cast<int>(next_random(&random) % 3);
      if (id % 3 == 0) {
        if (!store.product.is_consistent()) store.inconsistencies++;
        store.orders.add(units);
      } else if (id % 3 == 1) {
        work(store);
      } else {
        store.product.deliver(units);
      }
    }
  });
  return verdict(store.null_orders == 0 && store.inconsistencies == 0,
                 "an order was gone, or a product was sold out and in stock");
}
