// Each thread renders its rows and adds to one checksum, under a lock of its own object.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

static Racy<long> checksum;

class Runner {
 public:
  void render(unsigned first_row, unsigned rows, unsigned stride) {
    long local = 0;
    for (unsigned row = first_row; row < rows; row += stride)
      for (unsigned column = 0; column < 8; column++) local += trace(row, column);
    add(local);
  }
  // The brightness of a pixel: a ball of light in the middle, in whole numbers.
  static long trace(unsigned row, unsigned column) {
    long distance = static_cast<long>((row - 4) * (row - 4) + (column - 4) * (column - 4));
    return distance < 9 ? 255 - 20 * distance : 10;
  }

 private:
  CLEAVE_ATOMIC void add(long local) {
#ifdef FIXED
    static std::mutex all;
    std::lock_guard lock(all);
#else
    std::lock_guard lock(own_);
#endif
    checksum = checksum + local;
  }

  std::mutex own_;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 4, 1);
  constexpr unsigned kRows = 8;
  long expected = 0;
  for (unsigned row = 0; row < kRows; row++)
    for (unsigned column = 0; column < 8; column++) expected += Runner::trace(row, column);
  bool held = true;
  for (unsigned i = 0; i < options.iters && held; i++) {
    checksum = 0;
    run_threads(options.threads, [&options](unsigned id) { Runner().render(id, kRows, options.threads); });
    held = checksum == expected;
  }
  return verdict(held, "the checksum is wrong");
}
