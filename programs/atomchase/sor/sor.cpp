// Successive over-relaxation: threads own stripes of a grid and meet at a barrier between the red and the black half of
// a step. There is no violation.
#include <condition_variable>
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Barrier {
 public:
  explicit Barrier(unsigned parties) : parties_(parties) {}
  void arrive_and_wait() {
    std::unique_lock lock(mutex_);
    unsigned generation = generation_;
    if (++waiting_ == parties_) {
      waiting_ = 0;
      generation_++;
      everyone_.notify_all();
      return;
    }
    while (generation == generation_) everyone_.wait(lock);
  }

 private:
  std::mutex mutex_;
  std::condition_variable everyone_;
  const unsigned parties_;
  unsigned waiting_ = 0, generation_ = 0;
};

constexpr unsigned kSide = 10;
struct Grid {
  int cells[kSide][kSide];
  explicit Grid(uint64_t seed) {
    for (auto& row : cells)
      for (int& cell : row) cell = static_cast<int>(next_random(&seed) % 1000);
  }
};

// Relaxes the cells of one colour in the rows of one thread.
CLEAVE_ATOMIC static void relax(Grid& grid, unsigned colour, unsigned from, unsigned to) {
  for (unsigned row = from; row < to; row++)
    for (unsigned column = 1 + (row + colour) % 2; column + 1 < kSide; column += 2)
      grid.cells[row][column] = (grid.cells[row - 1][column] + grid.cells[row + 1][column] +
                                 grid.cells[row][column - 1] + grid.cells[row][column + 1]) / 4;
}

static void run(Grid& grid, unsigned threads, unsigned steps) {
  Barrier barrier(threads);
  run_threads(threads, [&grid, &barrier, threads, steps](unsigned id) {
    unsigned rows = kSide - 2;
    unsigned from = 1 + rows * id / threads, to = 1 + rows * (id + 1) / threads;
    for (unsigned half = 0; half < 2 * steps; half++) {
      relax(grid, half % 2, from, to);
      barrier.arrive_and_wait();
    }
  });
}

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 4, 2);
  Grid together(options.seed), alone(options.seed);
  run(together, options.threads < 1 ? 1 : options.threads, options.iters);
  run(alone, 1, options.iters);
  return verdict(memcmp(together.cells, alone.cells, sizeof alone.cells) == 0, "the grid depends on the threads");
}
