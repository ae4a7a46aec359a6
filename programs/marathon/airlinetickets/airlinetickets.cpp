// An agency starts a thread for every ticket until it hears that the flight is full; nothing is protected.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Flight {
 public:
  explicit Flight(int capacity) : capacity_(capacity) {}

  // Whether a seat was sold.
  CLEAVE_ATOMIC bool sell() {
#ifdef FIXED
    std::lock_guard lock(mutex_);
    if (sold_ == capacity_) {
      stop_sales_ = true;
      return false;
    }
#endif
    sold_ = sold_ + 1;
    if (sold_ > capacity_) stop_sales_ = true;
    return true;
  }

  bool sales_stopped() const { return stop_sales_; }
  int sold() const { return sold_; }
  bool oversold() const { return sold_ > capacity_; }

 private:
#ifdef FIXED
  std::mutex mutex_;
#endif
  const int capacity_;
  Racy<int> sold_ = 0;
  Racy<bool> stop_sales_ = false;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 20, 1);  // tickets issued
  bool held = true;
  for (unsigned round = 0; round < options.iters && held; round++) {
    int issued = static_cast<int>(options.threads);
    Flight flight(issued - issued / 10);
    std::atomic<int> passengers = 0;
    std::vector<std::thread> agents;
    for (int ticket = 0; ticket < issued && !flight.sales_stopped(); ticket++)
      agents.emplace_back([&flight, &passengers] { passengers += flight.sell(); });
    for (std::thread& agent : agents) agent.join();
    held = !flight.oversold() && flight.sold() == passengers;
  }
  return verdict(held, "the flight is oversold, or a sale was lost");
}
