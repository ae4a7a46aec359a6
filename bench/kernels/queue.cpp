// Kernel 2: a bounded queue. One thread produces work, the other consumes it.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace {

struct Job {
  uint64_t number;
  uint32_t payload[14];
};

class BoundedQueue {
 public:
  explicit BoundedQueue(size_t capacity) : slots_(capacity) {}

  void push(const Job& job) {
    std::unique_lock guard(mutex_);
    not_full_.wait(guard, [&] { return count_ < slots_.size(); });
    slots_[(first_ + count_) % slots_.size()] = job;
    ++count_;
    guard.unlock();
    not_empty_.notify_one();
  }

  Job pop() {
    std::unique_lock guard(mutex_);
    not_empty_.wait(guard, [&] { return count_ > 0; });
    Job job = slots_[first_];
    first_ = (first_ + 1) % slots_.size();
    --count_;
    guard.unlock();
    not_full_.notify_one();
    return job;
  }

 private:
  std::mutex mutex_;
  std::condition_variable not_full_, not_empty_;
  std::vector<Job> slots_;
  size_t first_ = 0, count_ = 0;
};

// What a job costs: a few hundred accesses of its own data.
uint32_t digest(std::vector<uint32_t>& table, const Job& job) {
  uint32_t sum = 0;
  for (size_t round = 0; round < 8; ++round)
    for (uint32_t word : job.payload) {
      uint32_t& place = table[(word + sum) % table.size()];
      place = place * 31 + word;
      sum ^= place;
    }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  long jobs = argc > 1 ? std::atol(argv[1]) : 100000;
  BoundedQueue queue(256);
  uint64_t total = 0;
  std::thread consumer([&] {
    std::vector<uint32_t> table(1024);
    for (long i = 0; i < jobs; ++i) total += digest(table, queue.pop());
  });
  std::vector<uint32_t> table(1024);
  for (long i = 0; i < jobs; ++i) {
    Job job{static_cast<uint64_t>(i), {}};
    for (uint32_t k = 0; k < 14; ++k) job.payload[k] = static_cast<uint32_t>(i) * 2654435761u + k * 40503u;
    job.payload[0] ^= digest(table, job);
    queue.push(job);
  }
  consumer.join();
  std::printf("%d\n", total != 1);
}
