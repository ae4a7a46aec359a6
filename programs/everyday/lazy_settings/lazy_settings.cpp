// Settings that are loaded when they are needed for the first time.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

class Settings {
 public:
  static Settings& instance() {
#ifdef FIXED
    std::lock_guard<std::mutex> lock(load_mutex_);
#endif
    if (!loaded_.load()) {
      current_.store(load());
      loaded_.store(true);
    }
    return *current_.load();
  }
  static int loads() { return loads_.load(); }
  static void unload() {
    delete current_.exchange(nullptr);
    loaded_.store(false);
  }

  int volume() const { return volume_; }

 private:
  static Settings* load() {
    loads_.fetch_add(1);
    return new Settings;
  }

  const int volume_ = 7;
  static std::atomic<bool> loaded_;
  static std::atomic<Settings*> current_;
  static std::atomic<int> loads_;
#ifdef FIXED
  static std::mutex load_mutex_;
#endif
};

std::atomic<bool> Settings::loaded_{false};
std::atomic<Settings*> Settings::current_{nullptr};
std::atomic<int> Settings::loads_{0};
#ifdef FIXED
std::mutex Settings::load_mutex_;
#endif

int main() {
  std::atomic<int> sum{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) threads.emplace_back([&sum] { sum += Settings::instance().volume(); });
  for (auto& thread : threads) thread.join();
  const int loads = Settings::loads();
  Settings::unload();
  if (loads != 1 || sum != 21) {
    std::printf("wrong: the settings were loaded %d times\n", loads);
    return 1;
  }
  std::printf("loaded once\n");
  return 0;
}
