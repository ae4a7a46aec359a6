// In how few moves does the knight reach each square? Every square that is reached starts a thread for each move from
// there; look at the best so far, then store a better one, in two critical sections.
#include <chrono>
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

constexpr int kSide = 5, kDeepest = 3, kUnreached = 1000;
constexpr int kMoves[8][2] = {{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}};

class Board {
 public:
  Board() {
    for (int& square : solution_) square = kUnreached;
  }
  int get_solution(int square) {
    std::lock_guard lock(mutex_);
    return solution_[square];
  }
  void set_solution(int square, int moves) {
    std::lock_guard lock(mutex_);
    solution_[square] = moves;
  }

  // Whether `moves` is the best so far; it is then stored.
  CLEAVE_ATOMIC bool check_and_set(int square, int moves, uint64_t* random) {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    if (get_solution(square) <= moves) return false;
    if (next_random(random) % 2 == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(next_random(random) % 200));
    set_solution(square, moves);
    return true;
  }

 private:
  std::recursive_mutex mutex_;
  int solution_[kSide * kSide];
};

static void solve(Board& board, int column, int row, int moves, uint64_t random) {
  if (column < 0 || column >= kSide || row < 0 || row >= kSide || moves > kDeepest) return;
  if (!board.check_and_set(row * kSide + column, moves, &random)) return;
  if (moves == kDeepest) return;
  run_threads(8, [&board, column, row, moves, random](unsigned way) {
    solve(board, column + kMoves[way][0], row + kMoves[way][1], moves + 1, random + way);
  });
}

// The same without threads, by breadth.
static std::vector<int> distances(int from) {
  std::vector<int> result(kSide * kSide, kUnreached);
  result[static_cast<size_t>(from)] = 0;
  for (int moves = 0; moves < kDeepest; moves++)
    for (int square = 0; square < kSide * kSide; square++) {
      if (result[static_cast<size_t>(square)] != moves) continue;
      for (auto move : kMoves) {
        int column = square % kSide + move[0], row = square / kSide + move[1];
        if (column < 0 || column >= kSide || row < 0 || row >= kSide) continue;
        int& there = result[static_cast<size_t>(row * kSide + column)];
        if (there > moves + 1) there = moves + 1;
      }
    }
  return result;
}

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 1, 1);  // the board decides how many threads
  std::vector<int> expected = distances(0);
  bool held = true;
  for (unsigned i = 0; i < options.iters && held; i++) {
    Board board;
    solve(board, 0, 0, 0, options.seed + i);
    for (int square = 0; square < kSide * kSide; square++)
      held = held && board.get_solution(square) == expected[static_cast<size_t>(square)];
  }
  return verdict(held, "a longer way replaced a shorter one");
}
