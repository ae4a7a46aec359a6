// Sum of squares by promises and futures.
#include <cstdio>
#include <future>
#include <thread>
#include <utility>
#include <vector>

class SumJob {
 public:
  SumJob(int from, int to) : from_(from), to_(to) {}
  std::future<long> start(std::vector<std::thread>& threads) {
    std::promise<long> promise;
    auto future = promise.get_future();
    threads.emplace_back([promise = std::move(promise), from = from_, to = to_]() mutable {
      long sum = 0;
      for (int i = from; i < to; i++) sum += static_cast<long>(i) * i;
      promise.set_value(sum);
    });
    return future;
  }

 private:
  const int from_;
  const int to_;
};

int main() {
  std::vector<std::thread> threads;
  std::vector<std::future<long>> parts;
  for (int i = 0; i < 4; i++) parts.push_back(SumJob(i * 10, (i + 1) * 10).start(threads));
  long sum = 0;
  for (auto& part : parts) sum += part.get();
  for (auto& thread : threads) thread.join();
  if (sum != 20540) {
    std::printf("wrong: sum %ld\n", sum);
    return 1;
  }
  std::printf("sum %ld\n", sum);
  return 0;
}
