// What std::list does with the links of its nodes: a ring through the list's own head. See README.md in this
// folder.
#include <list>

namespace std::__detail {

namespace {

using Node = _List_node_base;

#define LINKS static inline __attribute__((always_inline))

LINKS void join(Node* before, Node* after) {
  before->_M_next = after;
  after->_M_prev = before;
}

}  // namespace

void Node::_M_hook(Node* const position) noexcept {
  join(position->_M_prev, this);
  join(this, position);
}

void Node::_M_unhook() noexcept { join(_M_prev, _M_next); }

// [first, last) comes before this.
void Node::_M_transfer(Node* const first, Node* const last) noexcept {
  if (this == last) return;
  Node* final = last->_M_prev;
  Node* before = _M_prev;
  join(first->_M_prev, last);
  join(before, first);
  join(final, this);
}

// The head too.
void Node::_M_reverse() noexcept {
  Node* node = this;
  do {
    Node* next = node->_M_next;
    node->_M_next = node->_M_prev;
    node->_M_prev = next;
    node = next;
  } while (node != this);
}

// Two heads: each gets the ring of the other.
void Node::swap(Node& one, Node& other) noexcept {
  Node *first = one._M_next, *last = one._M_prev;
  const bool one_empty = first == &one;
  if (other._M_next == &other) {
    join(&one, &one);
  } else {
    Node *others_first = other._M_next, *others_last = other._M_prev;
    join(&one, others_first);
    join(others_last, &one);
  }
  if (one_empty) {
    join(&other, &other);
  } else {
    join(&other, first);
    join(last, &other);
  }
}

}  // namespace std::__detail
