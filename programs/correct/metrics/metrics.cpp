// A registry of metrics: counters live as long as the registry.
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Counter {
 public:
  void add(long n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  long value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<long> value_{0};
};

class Metrics {
 public:
  Counter& counter(const std::string& name) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto& slot = counters_[name];
    if (!slot) slot = std::make_unique<Counter>();
    return *slot;
  }
  std::map<std::string, long> values() const {
    std::lock_guard<std::mutex> lock(mutex_);
    std::map<std::string, long> out;
    for (const auto& [name, counter] : counters_) out[name] = counter->value();
    return out;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Counter>> counters_;
};

int main() {
  Metrics metrics;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++)
    threads.emplace_back([&metrics] {
      Counter& requests = metrics.counter("requests");
      for (int i = 0; i < 5; i++) {
        requests.add();
        metrics.counter("bytes").add(100);
      }
    });
  std::thread exporter([&metrics] {
    for (int i = 0; i < 2; i++) (void)metrics.values();
  });
  for (auto& thread : threads) thread.join();
  exporter.join();
  auto values = metrics.values();
  if (values["requests"] != 15 || values["bytes"] != 1500) {
    std::puts("wrong: counts were lost");
    return 1;
  }
  std::puts("15 requests");
  return 0;
}
