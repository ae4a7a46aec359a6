// Dining philosophers with one monitor: take both forks or wait.
#include <condition_variable>
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Table {
 public:
  // How many meals there were before this one.
  CLEAVE_ATOMIC int get_forks(int id) {
    std::unique_lock lock(mutex_);
    while (!forks_[id] || !forks_[(id + 1) % kSeats]) put_back_.wait(lock);
    forks_[id] = forks_[(id + 1) % kSeats] = false;
    return meals_++;
  }
  CLEAVE_ATOMIC void put_forks(int id) {
    std::lock_guard lock(mutex_);
    forks_[id] = forks_[(id + 1) % kSeats] = true;
    put_back_.notify_all();
  }
  bool all_forks_back() {
    std::lock_guard lock(mutex_);
    for (bool fork : forks_)
      if (!fork) return false;
    return true;
  }
  static constexpr int kSeats = 5;

 private:
  std::mutex mutex_;
  std::condition_variable put_back_;
  bool forks_[kSeats] = {true, true, true, true, true};
  int meals_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, Table::kSeats, 12);
  start_watchdog(30);
  Table table;
  unsigned seats = options.threads < Table::kSeats ? options.threads : Table::kSeats;
  run_threads(seats, [&table, &options](unsigned id) {
    for (int meal = 0; meal < static_cast<int>(options.iters);) {
      meal = table.get_forks(static_cast<int>(id));
      table.put_forks(static_cast<int>(id));
    }
  });
  return verdict(table.all_forks_back(), "a fork is missing");
}
