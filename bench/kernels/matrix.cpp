// Kernel 3: a blocked matrix product. Two threads take block rows from a shared counter and add to a shared
// accumulator.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr size_t kBlock = 16;

struct Matrix {
  explicit Matrix(size_t size) : size(size), cells(size * size) {}
  double& at(size_t row, size_t column) { return cells[row * size + column]; }
  size_t size;
  std::vector<double> cells;
};

struct Shared {
  Matrix a, b, c;
  std::atomic<size_t> next_row{0};
  std::mutex mutex;
  double trace = 0;
};

void multiply_block(Shared& shared, size_t row, size_t column, size_t inner) {
  for (size_t i = row; i < row + kBlock; ++i)
    for (size_t k = inner; k < inner + kBlock; ++k) {
      double factor = shared.a.at(i, k);
      for (size_t j = column; j < column + kBlock; ++j) shared.c.at(i, j) += factor * shared.b.at(k, j);
    }
}

void work(Shared& shared) {
  size_t size = shared.a.size;
  for (;;) {
    size_t row = shared.next_row.fetch_add(kBlock);
    if (row >= size) return;
    double sum = 0;
    for (size_t column = 0; column < size; column += kBlock) {
      for (size_t inner = 0; inner < size; inner += kBlock) multiply_block(shared, row, column, inner);
      for (size_t i = row; i < row + kBlock; ++i) sum += shared.c.at(i, column);
    }
    std::lock_guard guard(shared.mutex);
    shared.trace += sum;
  }
}

}  // namespace

int main(int argc, char** argv) {
  size_t size = argc > 1 ? std::strtoul(argv[1], nullptr, 10) / kBlock * kBlock : 256;
  Shared shared{Matrix(size), Matrix(size), Matrix(size)};
  for (size_t i = 0; i < size * size; ++i) {
    shared.a.cells[i] = static_cast<double>(i % 7) * 0.5;
    shared.b.cells[i] = 1.0 / static_cast<double>(i % 11 + 1);
  }
  std::thread other([&] { work(shared); });
  work(shared);
  other.join();
  std::printf("%d\n", shared.trace > 0);
}
