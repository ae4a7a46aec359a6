// Start and finish with latches.
#include <cstdio>
#include <latch>
#include <thread>
#include <vector>

struct ThreadCursor {
  int length = 0;
  int steps = 0;
};

int main() {
  constexpr int kRunners = 3;
  std::latch start(1);
  std::latch finish(kRunners);
  std::vector<ThreadCursor> lanes(kRunners);
  std::vector<std::thread> runners;
  for (int r = 0; r < kRunners; r++)
    runners.emplace_back([&, r] {
      ThreadCursor& lane = lanes[static_cast<std::size_t>(r)];
      start.wait();
      for (int i = 0; i < lane.length; i++) lane.steps++;
      finish.count_down();
    });
  for (int r = 0; r < kRunners; r++) lanes[static_cast<std::size_t>(r)].length = 5 + r;
  start.count_down();
  finish.wait();
  int steps = 0;
  for (const auto& lane : lanes) steps += lane.steps;
  for (auto& runner : runners) runner.join();
  if (steps != 18) {
    std::printf("wrong: %d steps\n", steps);
    return 1;
  }
  std::puts("18 steps");
  return 0;
}
