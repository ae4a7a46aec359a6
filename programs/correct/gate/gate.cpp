// A gate that opens and closes.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

class Gate {
 public:
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    const int generation = generation_;
    waiting_++;
    arrived_.notify_one();
    opened_.wait(lock, [&] { return generation_ != generation; });
    passed_++;
  }
  void open_for(int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    arrived_.wait(lock, [&] { return waiting_ >= count; });
    waiting_ -= count;
    generation_++;
    opened_.notify_all();
  }
  int passed() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return passed_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::condition_variable opened_;
  int waiting_ = 0;
  int generation_ = 0;
  int passed_ = 0;
};

int main() {
  Gate gate;
  std::vector<std::thread> cars;
  for (int i = 0; i < 3; i++)
    cars.emplace_back([&gate] {
      gate.wait();
      gate.wait();
    });
  gate.open_for(3);
  gate.open_for(3);
  for (auto& car : cars) car.join();
  if (gate.passed() != 6) {
    std::printf("wrong: %d passed\n", gate.passed());
    return 1;
  }
  std::puts("6 passed");
  return 0;
}
