// Blocked matrix product with a shared accumulator.
#include <cstdio>
#include <mutex>
#include <thread>

constexpr int kSize = 192, kBlock = 32;
double a[kSize][kSize], b[kSize][kSize], c[kSize][kSize], total;
std::mutex mutex;

void rows(int from, int to) {
  for (int block = from; block < to; block += kBlock) {
    double sum = 0;
    for (int i = block; i < block + kBlock; ++i)
      for (int k = 0; k < kSize; ++k)
        for (int j = 0; j < kSize; ++j) {
          c[i][j] += a[i][k] * b[k][j];
          if (k == kSize - 1) sum += c[i][j];
        }
    std::lock_guard guard(mutex);
    total += sum;
  }
}

int main() {
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j < kSize; ++j) a[i][j] = i + j, b[i][j] = i - j;
  std::thread first(rows, 0, kSize / 2), second(rows, kSize / 2, kSize);
  first.join();
  second.join();
  std::printf("%g\n", total);
  return 0;
}
