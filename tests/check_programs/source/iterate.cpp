// A loop over a container while another thread adds to it: who loops is a unit for the container, because an
// iterator's steps are code of whoever wrote the loop. -DCONTAINER: 1 vector, 2 list, 3 map. With -DREPAIRED
// all of the loop is in one section.
#include <list>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "steps.h"

int steps_done;
std::mutex mutex;

#if CONTAINER == 1
std::vector<int> items;
void put(int value) { items.push_back(value); }
int value_of(int item) { return item; }
#elif CONTAINER == 2
std::list<int> items;
void put(int value) { items.push_back(value); }
int value_of(int item) { return item; }
#else
std::map<int, int> items;
void put(int value) { items.emplace(value, value); }
int value_of(const std::pair<const int, int>& item) { return item.second; }
#endif

void add(int value) {
  std::lock_guard<std::mutex> guard(mutex);
  put(value);
}

int total() {
  int sum = 0;
#ifdef REPAIRED
  {
    std::lock_guard<std::mutex> guard(mutex);
    for (const auto& item : items) sum += value_of(item);
  }
  done();
  wait_for(2);
#else
  bool first = true;
  sum += static_cast<int>(items.size());
  for (const auto& item : items) {
    sum += value_of(item);
    if (first) {
      done();
      wait_for(2);
    }
    first = false;
  }
  sum += static_cast<int>(items.size());
#endif
  return sum;
}

int result;

int main() {
#if CONTAINER == 1
  items.reserve(8);
#endif
  put(1);
  put(2);
  std::thread reader([] { result = total(); });
  wait_for(1);
  add(3);
  done();
  reader.join();
}
