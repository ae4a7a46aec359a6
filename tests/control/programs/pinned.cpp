// Branches on the time, on random bytes and on a thread id: without pinning no replay would agree.
#include <sys/random.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <random>
#include <thread>

unsigned long sum;

void add(unsigned long value) {
  for (int bit = 0; bit < 8; ++bit) {
    if (value >> bit & 1)
      sum += 3;
    else
      sum ^= 5;
  }
}

int main() {
  std::thread other([] {
    add(static_cast<unsigned long>(std::chrono::steady_clock::now().time_since_epoch().count()));
    add(static_cast<unsigned long>(gettid()));
  });
  other.join();
  timeval now;
  gettimeofday(&now, nullptr);
  add(static_cast<unsigned long>(now.tv_usec));
  add(static_cast<unsigned long>(time(nullptr)));
  unsigned long random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) return 2;
  add(random);
  std::random_device device;
  add(device());
  std::printf("%lu\n", sum);
  return 0;
}
