// A bounded buffer built on a locked deque.
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

template <typename T>
class BoundedBuffer {
 public:
  explicit BoundedBuffer(std::size_t capacity) : capacity_(capacity) {}

  std::size_t size() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return items_.size();
  }

  bool try_push(T item) {
#ifdef FIXED
    std::lock_guard<std::mutex> lock(mutex_);
    if (items_.size() >= capacity_) return false;
#else
    if (size() >= capacity_) return false;
    std::lock_guard<std::mutex> lock(mutex_);
#endif
    items_.push_back(std::move(item));
    if (items_.size() > most_) most_ = items_.size();
    return true;
  }

  bool try_pop(T& item) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (items_.empty()) return false;
    item = std::move(items_.front());
    items_.pop_front();
    return true;
  }

  std::size_t most() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return most_;
  }

 private:
  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::deque<T> items_;
  std::size_t most_ = 0;
};

int main() {
  BoundedBuffer<int> buffer(2);
  std::vector<std::thread> threads;
  for (int p = 0; p < 3; p++)
    threads.emplace_back([&buffer, p] {
      for (int i = 0; i < 3; i++) buffer.try_push(10 * p + i);
    });
  threads.emplace_back([&buffer] {
    int item;
    for (int i = 0; i < 3; i++) buffer.try_pop(item);
  });
  for (auto& thread : threads) thread.join();
  if (buffer.most() > 2) {
    std::printf("wrong: %zu elements in a buffer of 2\n", buffer.most());
    return 1;
  }
  std::puts("never more than 2 elements");
  return 0;
}
