// The largest message seen by any of several connections.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

class HighWater {
 public:
  void record(int size) {
#ifdef FIXED
    int peak = peak_.load();
    while (size > peak && !peak_.compare_exchange_weak(peak, size)) {
    }
#else
    if (size > peak_.load()) peak_.store(size);
#endif
  }
  int peak() const { return peak_.load(); }

 private:
  std::atomic<int> peak_{0};
};

class Connection {
 public:
  Connection(HighWater& high_water, std::vector<int> sizes)
      : high_water_(high_water), sizes_(std::move(sizes)) {}
  void receive_all() {
    for (int size : sizes_) {
      bytes_ += size;
      high_water_.record(size);
    }
  }
  long bytes() const { return bytes_; }

 private:
  HighWater& high_water_;
  std::vector<int> sizes_;
  long bytes_ = 0;
};

int main() {
  HighWater high_water;
  std::vector<Connection> connections;
  connections.emplace_back(high_water, std::vector<int>{10, 400, 900});
  connections.emplace_back(high_water, std::vector<int>{20, 300, 899});
  connections.emplace_back(high_water, std::vector<int>{5, 700, 850});
  std::vector<std::thread> threads;
  for (auto& connection : connections) threads.emplace_back(&Connection::receive_all, &connection);
  for (auto& thread : threads) thread.join();
  if (high_water.peak() != 900) {
    std::printf("wrong: the peak is %d instead of 900\n", high_water.peak());
    return 1;
  }
  std::printf("peak 900, %ld bytes\n", connections[0].bytes() + connections[1].bytes());
  return 0;
}
