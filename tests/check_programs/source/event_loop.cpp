// Correct: a loop that takes what was posted, waiting only if there is nothing. Whether it has to wait or
// not, its rounds are not meant to be atomic together. WAIT says how the waiting is written.
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

class Loop {
 public:
  void post(int task) {
    std::lock_guard<std::mutex> guard(mutex_);
    tasks_.push_back(task);
    wake_.notify_one();
  }
  void stop() {
    std::lock_guard<std::mutex> guard(mutex_);
    stopped_ = true;
    wake_.notify_one();
  }
  long run() {
    long sum = 0;
    std::vector<int> batch;
    while (true) {
      {
        std::unique_lock<std::mutex> lock(mutex_);
#if WAIT == 1
        wake_.wait(lock, [&] { return stopped_ || !tasks_.empty(); });
#else
        while (!stopped_ && tasks_.empty()) wake_.wait(lock);
#endif
        if (tasks_.empty()) return sum;
        batch.swap(tasks_);
      }
      for (int task : batch) sum += task;
      batch.clear();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<int> tasks_;
  bool stopped_ = false;
};

int main() {
  Loop loop;
  long sum = 0;
  std::thread runner([&] { sum = loop.run(); });
  std::thread poster([&] {
    for (int i = 1; i <= 4; ++i) loop.post(i);
  });
  for (int i = 1; i <= 4; ++i) loop.post(-i);
  poster.join();
  loop.stop();
  runner.join();
  return sum == 0 ? 0 : 1;
}
