// What a program does with containers, compiled twice: by cleave-c++ (WHO=ours) and by clang++ (WHO=theirs).
#include "operations.h"

namespace WHO {

// Out of line, so that one compiler's code does not stand for the other's.
#define HERE __attribute__((noinline))

HERE bool insert(Map& map, int key) { return map.emplace(key, key).second; }
HERE bool erase(Map& map, int key) { return map.erase(key) == 1; }
HERE void insert_before(Multi& set, int key) { set.emplace_hint(set.lower_bound(key), key); }
HERE std::vector<int> forward(const Map& map) {
  std::vector<int> keys;
  for (Map::const_iterator at = map.begin(); at != map.end(); ++at) keys.push_back(at->first);
  return keys;
}
HERE std::vector<int> backward(const Map& map) {
  std::vector<int> keys;
  for (Map::const_reverse_iterator at = map.rbegin(); at != map.rend(); ++at) keys.push_back(at->first);
  return keys;
}

HERE void push(List& list, unsigned at, int value) { list.insert(std::next(list.begin(), at), value); }
HERE void drop(List& list, unsigned at) { list.erase(std::next(list.begin(), at)); }
HERE void splice(List& to, List& from, unsigned first, unsigned last) {
  to.splice(to.begin(), from, std::next(from.begin(), first), std::next(from.begin(), last));
}
HERE void exchange(List& one, List& other) { one.swap(other); }
HERE void reverse(List& list) { list.reverse(); }
HERE void sort(List& list) { list.sort(); }
HERE void merge(List& to, List& from) { to.merge(from); }

HERE void insert(Table& table, int key) { table.emplace(key, key); }
HERE void erase(Table& table, int key) { table.erase(key); }
HERE void reserve(Table& table, unsigned size) { table.reserve(size); }
HERE void load(Table& table, float factor) { table.max_load_factor(factor); }

}  // namespace WHO
