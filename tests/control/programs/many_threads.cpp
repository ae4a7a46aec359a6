// Thousands of short threads, some alive at the same time.
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

std::atomic<int> counter;

int main(int count, char** arguments) {
  int wanted = count > 1 ? std::atoi(arguments[1]) : 2000;
  for (int made = 0; made < wanted;) {
    std::vector<std::thread> some;
    for (int i = 0; i < 100 && made < wanted; ++i, ++made) some.emplace_back([] { ++counter; });
    for (auto& thread : some) thread.join();
  }
  return counter == wanted ? 0 : 1;
}
