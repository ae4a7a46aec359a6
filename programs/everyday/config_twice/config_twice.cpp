// A configuration that is reloaded while clients read it.
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>

class Config {
 public:
  using Values = std::map<std::string, std::string>;

  explicit Config(Values values) : values_(std::move(values)) {}

  std::string get(const std::string& key) const {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = values_.find(key);
    return it == values_.end() ? "" : it->second;
  }
  Values get_all() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return values_;
  }
  void reload(Values values) {
    std::lock_guard<std::mutex> lock(mutex_);
    values_.swap(values);
  }

 private:
  mutable std::mutex mutex_;
  Values values_;
};

class Client {
 public:
  explicit Client(const Config& config) : config_(config) {}
  std::string endpoint() const {
#ifdef FIXED
    const auto values = config_.get_all();
    return values.at("host") + ":" + values.at("port");
#else
    return config_.get("host") + ":" + config_.get("port");
#endif
  }

 private:
  const Config& config_;
};

int main() {
  const Config::Values blue = {{"host", "blue"}, {"port", "1001"}};
  const Config::Values green = {{"host", "green"}, {"port", "2002"}};
  Config config(blue);
  std::string bad;
  std::thread reloader([&] {
    for (int i = 0; i < 4; i++) config.reload(i % 2 ? blue : green);
  });
  std::thread client_thread([&] {
    Client client(config);
    for (int i = 0; i < 4; i++) {
      std::string endpoint = client.endpoint();
      if (endpoint != "blue:1001" && endpoint != "green:2002") bad = endpoint;
    }
  });
  reloader.join();
  client_thread.join();
  if (!bad.empty()) {
    std::printf("wrong: connected to %s\n", bad.c_str());
    return 1;
  }
  std::puts("all endpoints right");
  return 0;
}
