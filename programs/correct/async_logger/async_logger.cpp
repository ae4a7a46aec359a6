// Logger with a background writer.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Logger {
 public:
  Logger() : writer_([this] { write_all(); }) {}
  ~Logger() { stop(); }

  void log(std::string line) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      buffer_.push_back(std::move(line));
    }
    wake_.notify_one();
  }
  void stop() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (stopped_) return;
      stopped_ = true;
    }
    wake_.notify_one();
    writer_.join();
  }
  // Only after stop().
  const std::vector<std::string>& written() const { return written_; }

 private:
  void write_all() {
    std::vector<std::string> batch;
    std::unique_lock<std::mutex> lock(mutex_);
    while (!stopped_ || !buffer_.empty()) {
      wake_.wait(lock, [this] { return stopped_ || !buffer_.empty(); });
      batch.swap(buffer_);
      lock.unlock();
      for (auto& line : batch) written_.push_back(std::move(line));
      batch.clear();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::string> buffer_;
  bool stopped_ = false;
  std::vector<std::string> written_;
  std::thread writer_;
};

int main() {
  Logger logger;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; t++)
    threads.emplace_back([&logger, t] {
      for (int i = 0; i < 4; i++) logger.log("thread " + std::to_string(t) + " line " + std::to_string(i));
    });
  for (auto& thread : threads) thread.join();
  logger.stop();
  if (logger.written().size() != 8) {
    std::printf("wrong: %zu lines instead of 8\n", logger.written().size());
    return 1;
  }
  std::puts("8 lines");
  return 0;
}
