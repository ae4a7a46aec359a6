// Allocates and frees on and on: objects with members and locks of their own, containers, threads that come
// and go. What there is at a time does not grow with the number of rounds.
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Part {
  long a = 0, b = 0;
};

class Order {
 public:
  explicit Order(long number) : number_(number), lines_(4) {}
  void add(long amount) {
    std::lock_guard<std::mutex> guard(mutex_);
    lines_.push_back(amount);
    sums_[amount % 3] += amount;
    part_.a += amount;
    owned_->b = part_.a;
  }
  long total() {
    std::lock_guard<std::mutex> guard(mutex_);
    long sum = number_ + owned_->b;
    for (long line : lines_) sum += line;
    return sum;
  }

 private:
  std::mutex mutex_;
  long number_;
  std::vector<long> lines_;
  std::map<long, long> sums_;
  Part part_;
  std::unique_ptr<Part> owned_ = std::make_unique<Part>();
};

std::mutex desk_mutex;
std::shared_ptr<Order> desk;  // seen by both threads

long work(long rounds) {
  long sum = 0;
  for (long i = 0; i < rounds; ++i) {
    auto order = std::make_shared<Order>(i);
    for (long amount = 1; amount < 5; ++amount) order->add(amount);
    std::shared_ptr<Order> other = order;
    {
      std::lock_guard<std::mutex> guard(desk_mutex);
      std::swap(desk, other);
    }
    if (other) sum += other->total();
    if (i % 512 == 511) std::thread([&] { sum += order->total(); }).join();
  }
  return sum;
}

int main(int, char** argv) {
  const long rounds = std::atol(argv[1]);
  long sums[2] = {};
  std::thread other([&] { sums[0] = work(rounds); });
  sums[1] = work(rounds);
  other.join();
  return sums[0] + sums[1] < 0;
}
