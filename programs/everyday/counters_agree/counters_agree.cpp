// Requests in flight, from two counters.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

class RequestMeter {
 public:
  void start() {
#ifdef FIXED
    std::lock_guard<std::mutex> lock(mutex_);
#endif
    started_.fetch_add(1);
  }
  void finish() {
#ifdef FIXED
    std::lock_guard<std::mutex> lock(mutex_);
#endif
    finished_.fetch_add(1);
  }
  long in_flight() const {
#ifdef FIXED
    std::lock_guard<std::mutex> lock(mutex_);
#endif
    return started_.load() - finished_.load();
  }

 private:
#ifdef FIXED
  mutable std::mutex mutex_;
#endif
  std::atomic<long> started_{0};
  std::atomic<long> finished_{0};
};

static void serve(RequestMeter& meter, int requests) {
  for (int i = 0; i < requests; i++) {
    meter.start();
    std::this_thread::yield();
    meter.finish();
  }
}

int main() {
  RequestMeter meter;
  long lowest = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; i++) threads.emplace_back(serve, std::ref(meter), 3);
  threads.emplace_back([&] {
    for (int i = 0; i < 5; i++) {
      long now = meter.in_flight();
      if (now < lowest) lowest = now;
    }
  });
  for (auto& thread : threads) thread.join();
  if (lowest < 0) {
    std::printf("wrong: %ld requests in flight\n", lowest);
    return 1;
  }
  std::puts("the meter never went below zero");
  return 0;
}
