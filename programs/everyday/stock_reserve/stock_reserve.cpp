// Orders against a warehouse.
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Warehouse {
 public:
  void receive(const std::string& item, int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    stock_[item] += count;
  }
  int available(const std::string& item) const {
    std::unique_lock<std::mutex> lock(mutex_);
    auto it = stock_.find(item);
    return it == stock_.end() ? 0 : it->second;
  }
  void take(const std::string& item, int count) { receive(item, -count); }

  using Lines = std::vector<std::pair<std::string, int>>;
  bool take_all(const Lines& lines) {
    std::unique_lock<std::mutex> lock(mutex_);
    for (const auto& [item, count] : lines)
      if (stock_[item] < count) return false;
    for (const auto& [item, count] : lines) stock_[item] -= count;
    return true;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int> stock_;
};

class OrderDesk {
 public:
  explicit OrderDesk(Warehouse& warehouse) : warehouse_(warehouse) {}

  bool place(const Warehouse::Lines& lines) {
#ifdef FIXED
    return warehouse_.take_all(lines);
#else
    for (const auto& [item, count] : lines)
      if (warehouse_.available(item) < count) return false;
    for (const auto& [item, count] : lines) warehouse_.take(item, count);
    return true;
#endif
  }

 private:
  Warehouse& warehouse_;
};

int main() {
  Warehouse warehouse;
  warehouse.receive("bolt", 8);
  warehouse.receive("nut", 5);
  std::thread a([&] {
    OrderDesk desk(warehouse);
    desk.place({{"bolt", 3}, {"nut", 3}});
    desk.place({{"bolt", 1}, {"nut", 1}});
  });
  std::thread b([&] {
    OrderDesk desk(warehouse);
    desk.place({{"nut", 3}, {"bolt", 2}});
    desk.place({{"nut", 1}, {"bolt", 1}});
  });
  a.join();
  b.join();
  if (warehouse.available("bolt") < 0 || warehouse.available("nut") < 0) {
    std::printf("wrong: %d bolts, %d nuts\n", warehouse.available("bolt"), warehouse.available("nut"));
    return 1;
  }
  std::printf("%d bolts, %d nuts left\n", warehouse.available("bolt"), warehouse.available("nut"));
  return 0;
}
