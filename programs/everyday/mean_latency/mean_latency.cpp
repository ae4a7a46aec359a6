// Mean latency of requests.
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

class LatencyStats {
 public:
  void add(long micros) {
#ifdef FIXED
    std::scoped_lock lock(sum_mutex_, count_mutex_);
    sum_ += micros;
    count_++;
#else
    {
      std::lock_guard<std::mutex> lock(sum_mutex_);
      sum_ += micros;
    }
    {
      std::lock_guard<std::mutex> lock(count_mutex_);
      count_++;
    }
#endif
  }
  double mean() const {
    std::scoped_lock lock(sum_mutex_, count_mutex_);
    return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }

 private:
  mutable std::mutex sum_mutex_;
  mutable std::mutex count_mutex_;
  long sum_ = 0;
  long count_ = 0;
};

int main() {
  LatencyStats stats;
  double worst = 0;
  std::vector<std::thread> servers;
  for (int i = 0; i < 2; i++)
    servers.emplace_back([&stats] {
      for (int j = 0; j < 4; j++) stats.add(50);
    });
  std::thread monitor([&] {
    for (int i = 0; i < 6; i++) {
      double mean = stats.mean();
      if (mean != 0 && mean != 50) worst = mean;
      std::this_thread::yield();
    }
  });
  for (auto& server : servers) server.join();
  monitor.join();
  if (worst != 0 || stats.mean() != 50) {
    std::printf("wrong: a mean of %g although every sample is 50\n", worst);
    return 1;
  }
  std::puts("mean 50");
  return 0;
}
