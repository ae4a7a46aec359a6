// One place of the source that straight code has twice: a small function that is inlined, as those of the
// library are. And code of several lines that the compiler makes one of: it has no line.
#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>

struct Pair {
  int low = 0, high = 0;
};
struct Board {
  Pair pairs[4];
  int copied[8] = {};
  int sum = 0, chosen = 0;
};
Board board;
std::mutex mutex;
std::atomic<int> rounds;

static inline __attribute__((always_inline)) void put(int& where, int value) { where = value; }

__attribute__((noinline)) void fill(Pair& pair, int value) {
  put(pair.low, value);
  put(pair.high, value + 1);
}

__attribute__((noinline)) void choose(int value) {
  if (value % 2 == 0)
    board.chosen = value;
  else
    board.chosen = value + 7;
}

void work(int offset) {
  for (int i = 0; i < 4; ++i) {
    fill(board.pairs[i], offset + 10 * i);
    put(board.sum, offset + i);
    choose(offset + i);
    std::lock_guard guard(mutex);
    std::memcpy(board.copied, board.pairs, sizeof board.copied);
    rounds++;
  }
}

int main() {
  std::thread first(work, 100), second(work, 200);
  first.join();
  second.join();
  return rounds == 8 ? 0 : 1;
}
