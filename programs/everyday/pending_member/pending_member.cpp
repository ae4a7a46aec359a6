// A ledger with a two-step interface.
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

class Ledger {
 public:
  void post(int amount) {
#ifdef FIXED
    std::lock_guard<std::mutex> whole(post_mutex_);
#endif
    begin(amount);
    commit();
  }
  int total() const {
    std::lock_guard<std::mutex> lock(mutex_);
    int total = 0;
    for (int entry : entries_) total += entry;
    return total;
  }

 private:
  void begin(int amount) {
    std::lock_guard<std::mutex> lock(mutex_);
    pending_ = amount;
  }
  void commit() {
    std::lock_guard<std::mutex> lock(mutex_);
    entries_.push_back(pending_);
    pending_ = 0;
  }

#ifdef FIXED
  std::mutex post_mutex_;
#endif
  mutable std::mutex mutex_;
  int pending_ = 0;
  std::vector<int> entries_;
};

int main() {
  Ledger ledger;
  std::vector<std::thread> clerks;
  for (int c = 0; c < 2; c++)
    clerks.emplace_back([&ledger, c] {
      for (int i = 1; i <= 3; i++) ledger.post(c == 0 ? i : 10 * i);
    });
  for (auto& clerk : clerks) clerk.join();
  if (ledger.total() != 66) {
    std::printf("wrong: the ledger has %d instead of 66\n", ledger.total());
    return 1;
  }
  std::puts("total 66");
  return 0;
}
