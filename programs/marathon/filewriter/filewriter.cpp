// A growing store: when the array is full, an empty one of twice the size takes its place, and a thread is started to
// copy the items over. Readers come before the copier.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class DataStorage {
 public:
  ~DataStorage() {
    for (std::thread& copier : copiers_) copier.join();
  }

  CLEAVE_ATOMIC void put_data(int item) {
    if (count_ >= size_) double_array();
    std::lock_guard lock(mutex_);
    array_[count_] = item;
    count_ = count_ + 1;
  }

  CLEAVE_ATOMIC int get_data(int place) {
    std::lock_guard lock(mutex_);
    return array_[place];
  }

  int count() const { return count_; }
  static constexpr int kMost = 256;

 private:
  void double_array() {
    for (std::thread& copier : copiers_) copier.join();
    copiers_.clear();
    std::lock_guard lock(mutex_);
    int* old = array_;
    int filled = size_;
    array_ = old == first_ ? second_ : first_;
    for (int i = 0; i < kMost; i++) array_[i] = 0;
    size_ *= 2;
#ifdef FIXED
    copy(old, filled);
#else
    copiers_.emplace_back([this, old, filled] { copy(old, filled); });
#endif
  }
  void copy(const int* old, int filled) {
    for (int i = 0; i < filled; i++) {
      std::lock_guard lock(mutex_);
      array_[i] = old[i];
    }
  }

  std::recursive_mutex mutex_;
  int first_[kMost] = {}, second_[kMost] = {};
  int* array_ = first_;
  int size_ = 8;
  Racy<int> count_ = 0;
  std::vector<std::thread> copiers_;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 20);  // one reads the file, the others print
  unsigned rounds = static_cast<unsigned>(option_number(argc, argv, "--rounds", 1));
  std::atomic<int> nothing = 0;
  for (unsigned round = 0; round < rounds && nothing == 0; round++) {
    DataStorage storage;
    run_threads(options.threads, [&storage, &options, &nothing](unsigned id) {
      uint64_t random = options.seed + id;
      for (unsigned i = 0; i < options.iters && i < DataStorage::kMost; i++) {
        int count = storage.count();
        if (id == 0)
          storage.put_data(static_cast<int>(i) + 1);
        else if (count > 0 && storage.get_data(static_cast<int>(next_random(&random) % 1000) % count) == 0)
          nothing++;
      }
    });
  }
  return verdict(nothing == 0, "an item that was stored is not there");
}
