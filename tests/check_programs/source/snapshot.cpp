// Correct: readers take a snapshot under the lock and use it after. The count of the shared_ptr goes up
// inside the section and down outside; whose turn it is to go down is nobody's business.
#include <memory>
#include <mutex>
#include <string>
#include <thread>

struct Config {
  int version;
  std::string host;
};

class Store {
 public:
  Store() : current_(std::make_shared<Config>(Config{1, "first"})) {}
  std::shared_ptr<const Config> get() const {
    std::lock_guard<std::mutex> guard(mutex_);
    return current_;
  }
  void set(std::shared_ptr<const Config> next) {
    std::lock_guard<std::mutex> guard(mutex_);
    current_ = std::move(next);
  }
  std::string host() const { return get()->host; }
  int version() const { return get()->version; }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Config> current_;
};

int main() {
  Store store;
  std::thread writer([&] {
    for (int i = 2; i < 5; ++i) store.set(std::make_shared<Config>(Config{i, "another"}));
  });
  std::thread reader([&] {
    for (int i = 0; i < 3; ++i)
      if (store.host().empty()) return;
  });
  for (int i = 0; i < 3; ++i)
    if (store.version() == 0) return 1;
  writer.join();
  reader.join();
}
