// The same random operations on three containers of each kind: by our code, by the library's, and by either
// on one. Trees have to be the same node by node and color by color, lists and tables the same in every step.
// Compiled by clang++.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "operations.h"

namespace {

typedef std::_Rb_tree_node_base Node;

#define REQUIRE(what)                                \
  do {                                               \
    if (!(what)) {                                   \
      std::printf("line %d: %s\n", __LINE__, #what); \
      std::exit(1);                                  \
    }                                                \
  } while (0)

int black_height(const Node* node, const Node* parent) {
  if (node == nullptr) return 1;
  const Node *left = node->_M_left, *right = node->_M_right;
  REQUIRE(node->_M_parent == parent);
  const bool red = node->_M_color == std::_S_red;
  REQUIRE(!red || left == nullptr || left->_M_color == std::_S_black);
  REQUIRE(!red || right == nullptr || right->_M_color == std::_S_black);
  const int height = black_height(left, node);
  REQUIRE(height == black_height(right, node));
  return height + !red;
}

template <typename Tree>
void check_tree(const Tree& tree) {
  const Node* header = tree.end()._M_node;
  REQUIRE(header->_M_color == std::_S_red);
  const Node* root = header->_M_parent;
  if (root == nullptr) {
    REQUIRE(tree.empty() && header->_M_left == header && header->_M_right == header);
    return;
  }
  REQUIRE(root->_M_color == std::_S_black);
  black_height(root, header);
  const Node *first = root, *last = root;
  while (first->_M_left != nullptr) first = first->_M_left;
  while (last->_M_right != nullptr) last = last->_M_right;
  REQUIRE(header->_M_left == first && header->_M_right == last);
}

template <typename Value>
void write_shape(const Node* node, std::string& to) {
  if (node == nullptr) {
    to += '.';
    return;
  }
  to += node->_M_color == std::_S_red ? 'r' : 'b';
  const Value* value = static_cast<const std::_Rb_tree_node<Value>*>(node)->_M_valptr();
  to += std::to_string(*reinterpret_cast<const int*>(value));  // a map's pair begins with its key
  write_shape<Value>(node->_M_left, to);
  write_shape<Value>(node->_M_right, to);
}

template <typename Tree>
std::string shape(const Tree& tree) {
  check_tree(tree);
  std::string text;
  write_shape<typename Tree::value_type>(tree.end()._M_node->_M_parent, text);
  return text;
}

void maps(std::mt19937& random) {
  Map mine, library, mixed;
  const int range = 1 + random() % 80;
  for (int step = 0; step < 250; ++step) {
    const int key = random() % range;
    if (random() % 2) {
      const bool fresh = ours::insert(mine, key);
      REQUIRE(fresh == theirs::insert(library, key));
      REQUIRE(fresh == (random() % 2 ? ours::insert(mixed, key) : theirs::insert(mixed, key)));
    } else {
      const bool there = ours::erase(mine, key);
      REQUIRE(there == theirs::erase(library, key));
      REQUIRE(there == (random() % 2 ? ours::erase(mixed, key) : theirs::erase(mixed, key)));
    }
    const std::string want = shape(library);
    REQUIRE(shape(mine) == want && shape(mixed) == want);
    REQUIRE(ours::forward(library) == theirs::forward(library));
    REQUIRE(ours::backward(library) == theirs::backward(library));
  }
  Map copy = mixed, moved = std::move(mine);
  REQUIRE(shape(copy) == shape(moved));
}

void sets(std::mt19937& random) {
  Multi mine, library;
  for (int step = 0; step < 100; ++step) {
    const int key = random() % 10;
    ours::insert_before(mine, key);
    theirs::insert_before(library, key);
    REQUIRE(shape(mine) == shape(library));
  }
}

// In both directions, with every link back.
std::vector<int> in_order(const List& list) {
  std::vector<int> forward(list.begin(), list.end()), backward(list.rbegin(), list.rend());
  REQUIRE(forward == std::vector<int>(backward.rbegin(), backward.rend()));
  REQUIRE(forward.size() == list.size());
  return forward;
}

void lists(std::mt19937& random) {
  List mine[2], library[2];
  for (int step = 0; step < 250; ++step) {
    const unsigned which = random() % 2, size = mine[which].size(), at = random() % (size + 1);
    List &my = mine[which], &lib = library[which], &my_other = mine[1 - which],
         &lib_other = library[1 - which];
    switch (random() % 10) {
      default:
        ours::push(my, at, step), theirs::push(lib, at, step);
        break;
      case 4:
      case 5:
        if (at < size) ours::drop(my, at), theirs::drop(lib, at);
        break;
      case 6:
        ours::splice(my_other, my, at / 2, at), theirs::splice(lib_other, lib, at / 2, at);
        break;
      case 7:
        ours::exchange(my, my_other), theirs::exchange(lib, lib_other);
        break;
      case 8:
        ours::reverse(my), theirs::reverse(lib);
        break;
      case 9:
        ours::sort(my), theirs::sort(lib), ours::sort(my_other), theirs::sort(lib_other);
        if (random() % 2) ours::merge(my, my_other), theirs::merge(lib, lib_other);
        break;
    }
    for (int i : {0, 1}) REQUIRE(in_order(mine[i]) == in_order(library[i]));
    if (random() % 4 == 0) mine[which].swap(library[which]);  // what ours has linked goes on with theirs
  }
}

void tables(std::mt19937& random) {
  Table mine, library;
  const float factors[] = {0.1f, 0.75f, 1.0f, 1.5f, 7.0f};
  const float factor = factors[random() % 5];
  ours::load(mine, factor), theirs::load(library, factor);
  for (int step = 0; step < 400; ++step) {
    const int key = random() % 3000;
    switch (random() % 40) {
      default:
        ours::insert(mine, key), theirs::insert(library, key);
        break;
      case 1:
      case 2:
        ours::erase(mine, key), theirs::erase(library, key);
        break;
      case 0:
        ours::reserve(mine, key / 4), theirs::reserve(library, key / 4);
        break;
    }
    REQUIRE(mine.bucket_count() == library.bucket_count());
    typedef std::vector<std::pair<int, int>> Pairs;
    REQUIRE(Pairs(mine.begin(), mine.end()) == Pairs(library.begin(), library.end()));
    if (random() % 30 == 0) mine.swap(library);
  }
}

}  // namespace

int main() {
  std::mt19937 random(20);
  for (int round = 0; round < 40; ++round) maps(random), sets(random), lists(random), tables(random);
  std::puts("the same");
}
