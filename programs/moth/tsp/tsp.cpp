// Travelling salesman, branch and bound: workers take partial tours from a shared stack and solve them; the length of
// the best tour is read without its lock to prune, and tested again under the lock before it is replaced.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

constexpr int kCities = 7, kLong = 1000000;

struct Tour {
  int cities[kCities];
  int length, last;
};

class Solver {
 public:
  explicit Solver(uint64_t seed) {
    for (int from = 0; from < kCities; from++)
      for (int to = 0; to < from; to++)
        distance_[from][to] = distance_[to][from] = 1 + static_cast<int>(next_random(&seed) % 50);
    for (int second = 1; second < kCities; second++)
      stack_[top_++] = Tour{{0, second}, distance_[0][second], 2};
  }

  CLEAVE_ATOMIC bool get_tour(Tour* tour) {
    std::lock_guard lock(tour_mutex_);
    if (top_ == 0) return false;
    *tour = stack_[--top_];
    return true;
  }

  // Tests without the lock, then again with it.
  CLEAVE_ATOMIC void set_best(const Tour& tour, int length) {
    if (length >= min_tour_length_) return;
    std::lock_guard lock(min_mutex_);
    if (length >= min_tour_length_) return;
    min_tour_length_ = length;
    min_tour_ = tour;
  }

  void solve(Tour& tour) {
    if (tour.length >= min_tour_length_) return;  // prune
    if (tour.last == kCities) return set_best(tour, tour.length + distance_[tour.cities[kCities - 1]][0]);
    for (int city = 1; city < kCities; city++) {
      if (contains(tour, city)) continue;
      Tour longer = tour;
      longer.length += distance_[tour.cities[tour.last - 1]][city];
      longer.cities[longer.last++] = city;
      solve(longer);
    }
  }

  int best() const { return min_tour_length_; }

 private:
  static bool contains(const Tour& tour, int city) {
    for (int i = 0; i < tour.last; i++)
      if (tour.cities[i] == city) return true;
    return false;
  }

  int distance_[kCities][kCities] = {};
  std::mutex tour_mutex_;
  Tour stack_[kCities];
  int top_ = 0;
  std::mutex min_mutex_;
  Racy<int> min_tour_length_ = kLong;
  Tour min_tour_ = {};
};

static int optimum(uint64_t seed, unsigned threads) {
  Solver solver(seed);
  run_threads(threads, [&solver](unsigned) {
    Tour tour;
    while (solver.get_tour(&tour)) solver.solve(tour);
  });
  return solver.best();
}

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 4, 1);
  bool held = true;
  for (unsigned i = 0; i < options.iters && held; i++)
    held = optimum(options.seed + i, options.threads) == optimum(options.seed + i, 1);
  return verdict(held, "the tour is not the best");
}
