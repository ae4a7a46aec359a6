// A key-value store with transactions.
#include <cstdio>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

class Store {
 public:
  class Transaction {
   public:
    explicit Transaction(Store& store) : store_(store), lock_(store.mutex_) {}
    ~Transaction() {
      if (!committed_)
        for (auto it = undo_.rbegin(); it != undo_.rend(); ++it) store_.values_[it->first] = it->second;
    }
    int get(const std::string& key) const { return store_.values_[key]; }
    void set(const std::string& key, int value) {
      undo_.emplace_back(key, store_.values_[key]);
      store_.values_[key] = value;
    }
    void commit() { committed_ = true; }

   private:
    Store& store_;
    std::lock_guard<std::mutex> lock_;
    std::vector<std::pair<std::string, int>> undo_;
    bool committed_ = false;
  };

 private:
  std::mutex mutex_;
  std::map<std::string, int> values_;
};

static void move_money(Store& store, const std::string& from, const std::string& to, int amount) {
  Store::Transaction transaction(store);
  transaction.set(to, transaction.get(to) + amount);
  transaction.set(from, transaction.get(from) - amount);
  if (transaction.get(from) < 0) throw std::runtime_error("not enough money");
  transaction.commit();
}

int main() {
  Store store;
  {
    Store::Transaction setup(store);
    setup.set("a", 50);
    setup.set("b", 50);
    setup.commit();
  }
  auto client = [&store](const std::string& from, const std::string& to) {
    for (int i = 0; i < 3; i++) try {
        move_money(store, from, to, 30);
      } catch (const std::runtime_error&) {
      }
  };
  std::thread x(client, "a", "b"), y(client, "b", "a");
  x.join();
  y.join();
  Store::Transaction check(store);
  if (check.get("a") + check.get("b") != 100 || check.get("a") < 0 || check.get("b") < 0) {
    std::printf("wrong: %d and %d\n", check.get("a"), check.get("b"));
    return 1;
  }
  std::puts("total 100");
  return 0;
}
