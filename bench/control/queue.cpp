// A producer and a consumer with a bounded queue.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

constexpr int kItems = 200000, kSize = 256;
int ring[kSize], head, tail, count;
std::mutex mutex;
std::condition_variable not_empty, not_full;

int main() {
  long sum = 0;
  std::thread producer([] {
    for (int i = 0; i < kItems; ++i) {
      std::unique_lock guard(mutex);
      not_full.wait(guard, [] { return count < kSize; });
      ring[head] = i;
      head = (head + 1) % kSize;
      ++count;
      not_empty.notify_one();
    }
  });
  std::thread consumer([&] {
    for (int i = 0; i < kItems; ++i) {
      std::unique_lock guard(mutex);
      not_empty.wait(guard, [] { return count > 0; });
      sum += ring[tail];
      tail = (tail + 1) % kSize;
      --count;
      not_full.notify_one();
    }
  });
  producer.join();
  consumer.join();
  std::printf("%ld\n", sum);
  return 0;
}
