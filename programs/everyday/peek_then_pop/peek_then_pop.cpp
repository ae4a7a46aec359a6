// Alarms in order of severity, handled by two dispatchers.
#include <cstdio>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

class AlarmQueue {
 public:
  void raise(int severity) {
    std::lock_guard<std::mutex> lock(mutex_);
    heap_.push(severity);
  }
  bool top(int& severity) const {
    std::lock_guard<std::mutex> lock(mutex_);
    if (heap_.empty()) return false;
    severity = heap_.top();
    return true;
  }
  void pop() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!heap_.empty()) heap_.pop();
  }
  bool take(int& severity) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (heap_.empty()) return false;
    severity = heap_.top();
    heap_.pop();
    return true;
  }

 private:
  mutable std::mutex mutex_;
  std::priority_queue<int> heap_;
};

class Dispatcher {
 public:
  explicit Dispatcher(AlarmQueue& queue) : queue_(queue) {}
  void run() {
    while (handle_next()) {
    }
  }
  const std::vector<int>& handled() const { return handled_; }

 private:
  bool handle_next() {
    int severity;
#ifdef FIXED
    if (!queue_.take(severity)) return false;
#else
    if (!queue_.top(severity)) return false;
    queue_.pop();
#endif
    handled_.push_back(severity);
    return true;
  }

  AlarmQueue& queue_;
  std::vector<int> handled_;
};

int main() {
  AlarmQueue queue;
  for (int severity = 0; severity < 6; severity++) queue.raise(severity);
  Dispatcher a(queue), b(queue);
  std::thread first(&Dispatcher::run, &a), second(&Dispatcher::run, &b);
  first.join();
  second.join();
  int times[6] = {};
  for (int severity : a.handled()) times[severity]++;
  for (int severity : b.handled()) times[severity]++;
  for (int severity = 0; severity < 6; severity++)
    if (times[severity] != 1) {
      std::printf("wrong: alarm %d was handled %d times\n", severity, times[severity]);
      return 1;
    }
  std::puts("6 alarms handled");
  return 0;
}
