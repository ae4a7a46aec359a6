// Tasks and their futures through a locked queue: what the library does in them is its own affair.
#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

class Pool {
 public:
  Pool() : worker_([this] { run(); }) {}
  ~Pool() {
    {
      std::lock_guard guard(mutex_);
      stopped_ = true;
    }
    changed_.notify_one();
    worker_.join();
  }
  std::future<long> submit(long n) {
    auto task = std::make_shared<std::packaged_task<long()>>([n] { return n * n; });
    std::future<long> result = task->get_future();
    {
      std::lock_guard guard(mutex_);
      tasks_.push_back(task);
    }
    changed_.notify_one();
    return result;
  }

 private:
  void run() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopped_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      auto task = tasks_.front();
      tasks_.pop_front();
      lock.unlock();
      (*task)();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<std::packaged_task<long()>>> tasks_;
  bool stopped_ = false;
  std::thread worker_;
};

int main() {
  Pool pool;
  long sum = 0;
  for (long i = 0; i < 10; ++i) {
    std::future<long> a = pool.submit(i), b = pool.submit(i + 1);
    sum += a.get() + b.get();
  }
  return sum == 670 ? 0 : 1;
}
