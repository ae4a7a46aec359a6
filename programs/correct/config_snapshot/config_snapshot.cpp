// Configuration in immutable snapshots.
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Config {
  std::string host;
  int port;
  int generation;
};

class ConfigStore {
 public:
  explicit ConfigStore(Config config) : current_(std::make_shared<const Config>(std::move(config))) {}
  std::shared_ptr<const Config> get() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return current_;
  }
  template <typename F>
  void update(F change) {
    std::lock_guard<std::mutex> writer(writer_mutex_);
    auto next = std::make_shared<Config>(*get());
    change(*next);
    next->generation++;
    std::lock_guard<std::mutex> lock(mutex_);
    current_ = std::move(next);
  }

 private:
  std::mutex writer_mutex_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Config> current_;
};

int main() {
  ConfigStore store({"host0", 8000, 0});
  bool mixed = false;
  auto edit = [&store](int times) {
    for (int i = 0; i < times; i++)
      store.update([](Config& config) {
        config.port++;
        config.host = "host" + std::to_string(config.port - 8000);
      });
  };
  std::thread a(edit, 2), b(edit, 3);
  std::thread reader([&] {
    for (int i = 0; i < 5; i++) {
      auto config = store.get();
      if (config->host != "host" + std::to_string(config->port - 8000)) mixed = true;
    }
  });
  a.join();
  b.join();
  reader.join();
  auto last = store.get();
  if (mixed || last->generation != 5 || last->port != 8005) {
    std::printf("wrong: generation %d\n", last->generation);
    return 1;
  }
  std::puts("generation 5");
  return 0;
}
