// A table of primes, built once.
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

class Primes {
 public:
  bool is_prime(int n) {
    std::call_once(once_, [this] { build(); });
    return sieve_[static_cast<std::size_t>(n)];
  }
  int builds() const { return builds_; }

 private:
  static constexpr int kMax = 40;

  void build() {
    builds_++;
    sieve_.assign(kMax, true);
    sieve_[0] = sieve_[1] = false;
    for (std::size_t i = 2; i * i < kMax; i++)
      if (sieve_[i])
        for (std::size_t j = i * i; j < kMax; j += i) sieve_[j] = false;
  }

  std::once_flag once_;
  std::vector<bool> sieve_;
  int builds_ = 0;
};

int main() {
  Primes primes;
  int counts[3] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++)
    threads.emplace_back([&, t] {
      for (int n = t; n < 40; n += 3) counts[t] += primes.is_prime(n);
    });
  for (auto& thread : threads) thread.join();
  if (primes.builds() != 1 || counts[0] + counts[1] + counts[2] != 12) {
    std::printf("wrong: %d primes\n", counts[0] + counts[1] + counts[2]);
    return 1;
  }
  std::puts("12 primes");
  return 0;
}
