// A web server's resource store manager: load asks whether the store is closed, then looks the entry up; shutdown
// clears all entries and closes.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class ResourceStoreManager {
 public:
  ResourceStoreManager() {
    for (int i = 0; i < kEntries; i++) entries_[i] = i + 1;
  }

  // Null resources are what nobody expects from an open store.
  CLEAVE_ATOMIC void load_resource_store(int key) {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    if (check_closed()) return;
    if (lookup_entry(key) == 0) count_null();
  }

  CLEAVE_ATOMIC void shutdown() {
    std::lock_guard lock(mutex_);
    for (int& entry : entries_) entry = 0;
    closed_ = true;
  }

  int loads_after_close() const { return nulls_; }

 private:
  bool check_closed() {
    std::lock_guard lock(mutex_);
    return closed_;
  }
  int lookup_entry(int key) {
    std::lock_guard lock(mutex_);
    return entries_[key % kEntries];
  }
  void count_null() {
    std::lock_guard lock(mutex_);
    nulls_++;
  }

  static constexpr int kEntries = 4;
  std::recursive_mutex mutex_;
  int entries_[kEntries];
  bool closed_ = false;
  int nulls_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 3, 1);
  bool held = true;
  for (unsigned i = 0; i < options.iters && held; i++) {
    ResourceStoreManager manager;
    run_threads(options.threads, [&manager](unsigned id) {
      manager.load_resource_store(static_cast<int>(id));
      manager.shutdown();
    });
    held = manager.loads_after_close() == 0;
  }
  return verdict(held, "an open store had no entry");
}
