#pragma once
#include <iterator>
#include <list>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

typedef std::map<int, int> Map;
typedef std::multiset<int> Multi;
typedef std::list<int> List;
typedef std::unordered_map<int, int> Table;

#define OPERATIONS(who)                          \
  namespace who {                                \
  bool insert(Map&, int);                        \
  bool erase(Map&, int);                         \
  void insert_before(Multi&, int);               \
  std::vector<int> forward(const Map&);          \
  std::vector<int> backward(const Map&);         \
  void push(List&, unsigned, int);               \
  void drop(List&, unsigned);                    \
  void splice(List&, List&, unsigned, unsigned); \
  void exchange(List&, List&);                   \
  void reverse(List&);                           \
  void sort(List&);                              \
  void merge(List&, List&);                      \
  void insert(Table&, int);                      \
  void erase(Table&, int);                       \
  void reserve(Table&, unsigned);                \
  void load(Table&, float);                      \
  }
OPERATIONS(ours)
OPERATIONS(theirs)
