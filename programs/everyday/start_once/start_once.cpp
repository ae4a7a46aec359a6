// A background service that any module may start.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Service {
 public:
  virtual ~Service() = default;

  bool start() {
#ifdef FIXED
    if (running_.exchange(true)) return false;
#else
    if (running_) return false;
    running_ = true;
#endif
    on_start();
    return true;
  }
  bool running() const { return running_; }

 protected:
  virtual void on_start() = 0;

 private:
  std::atomic<bool> running_{false};
};

class Indexer : public Service {
 public:
  std::size_t starts() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return log_.size();
  }

 protected:
  void on_start() override {
    std::lock_guard<std::mutex> lock(mutex_);
    log_.push_back("started");
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> log_;
};

int main() {
  Indexer indexer;
  std::vector<std::thread> modules;
  for (int i = 0; i < 3; i++) modules.emplace_back([&indexer] { indexer.start(); });
  for (auto& module : modules) module.join();
  if (indexer.starts() != 1) {
    std::printf("wrong: started %zu times\n", indexer.starts());
    return 1;
  }
  std::puts("started once");
  return 0;
}
