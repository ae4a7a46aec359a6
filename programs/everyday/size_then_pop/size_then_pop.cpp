// Workers that drain a queue of numbers.
#include <cstdio>
#include <mutex>
#include <optional>
#include <queue>
#include <stdexcept>
#include <thread>
#include <vector>

class TaskQueue {
 public:
  void push(int task) {
    std::lock_guard lock(mutex_);
    tasks_.push(task);
  }
  std::size_t size() const {
    std::lock_guard lock(mutex_);
    return tasks_.size();
  }
  int pop() {
    std::lock_guard lock(mutex_);
    if (tasks_.empty()) throw std::underflow_error("pop from an empty queue");
    int task = tasks_.front();
    tasks_.pop();
    return task;
  }
  std::optional<int> try_pop() {
    std::lock_guard lock(mutex_);
    if (tasks_.empty()) return std::nullopt;
    int task = tasks_.front();
    tasks_.pop();
    return task;
  }

 private:
  mutable std::mutex mutex_;
  std::queue<int> tasks_;
};

static int drain(TaskQueue& queue) {
  int sum = 0;
#ifdef FIXED
  while (auto task = queue.try_pop()) sum += *task;
#else
  while (queue.size() > 0) sum += queue.pop();
#endif
  return sum;
}

int main() {
  TaskQueue queue;
  int expected = 0;
  for (int i = 1; i <= 9; i++) {
    queue.push(i);
    expected += i;
  }
  int sums[3] = {};
  bool failed[3] = {};
  std::vector<std::thread> workers;
  for (int w = 0; w < 3; w++)
    workers.emplace_back([&, w] {
      try {
        sums[w] = drain(queue);
      } catch (const std::underflow_error&) {
        failed[w] = true;
      }
    });
  for (auto& worker : workers) worker.join();
  if (failed[0] || failed[1] || failed[2]) {
    std::puts("wrong: pop from an empty queue");
    return 1;
  }
  std::printf("sum %d of %d\n", sums[0] + sums[1] + sums[2], expected);
  return sums[0] + sums[1] + sums[2] == expected ? 0 : 1;
}
