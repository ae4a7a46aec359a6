// Work stealing with a locked deque per worker.
#include <atomic>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

class WorkDeque {
 public:
  void push(int task) {
    std::lock_guard<std::mutex> lock(mutex_);
    tasks_.push_back(task);
  }
  std::optional<int> pop() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (tasks_.empty()) return std::nullopt;
    int task = tasks_.back();
    tasks_.pop_back();
    return task;
  }
  std::optional<int> steal() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (tasks_.empty()) return std::nullopt;
    int task = tasks_.front();
    tasks_.pop_front();
    return task;
  }

 private:
  std::mutex mutex_;
  std::deque<int> tasks_;
};

class Scheduler {
 public:
  explicit Scheduler(std::size_t workers) {
    for (std::size_t i = 0; i < workers; i++) deques_.push_back(std::make_unique<WorkDeque>());
  }
  void add(std::size_t worker, int task) { deques_[worker]->push(task); }
  long run() {
    std::vector<long> sums(deques_.size());
    std::vector<std::thread> threads;
    for (std::size_t w = 0; w < deques_.size(); w++)
      threads.emplace_back([this, &sums, w] {
        while (auto task = next(w)) sums[w] += *task;
      });
    for (auto& thread : threads) thread.join();
    long sum = 0;
    for (long part : sums) sum += part;
    return sum;
  }

 private:
  std::optional<int> next(std::size_t worker) {
    if (auto task = deques_[worker]->pop()) return task;
    for (std::size_t i = 1; i < deques_.size(); i++)
      if (auto task = deques_[(worker + i) % deques_.size()]->steal()) return task;
    return std::nullopt;
  }

  std::vector<std::unique_ptr<WorkDeque>> deques_;
};

int main() {
  Scheduler scheduler(3);
  for (int i = 1; i <= 10; i++) scheduler.add(i % 2 ? 0 : 1, i);
  long sum = scheduler.run();
  if (sum != 55) {
    std::printf("wrong: sum %ld instead of 55\n", sum);
    return 1;
  }
  std::puts("sum 55");
  return 0;
}
