// What std::map, std::set and their multi kin do with the links of their nodes. See README.md in this folder.
//
// The tree is the library's: a node's parent, left, right and color; a header, red, whose parent is the root,
// whose left and right are the first and the last node (itself in an empty tree), and who is the root's
// parent.
#include <map>

namespace {

using Node = std::_Rb_tree_node_base;

#define LINKS static inline __attribute__((always_inline))

// Below, Left says on which side things happen; the other side is the same in a mirror.
template <bool Left>
LINKS Node* child(const Node* node) {
  if constexpr (Left)
    return node->_M_left;
  else
    return node->_M_right;
}

template <bool Left>
LINKS void set_child(Node* node, Node* to) {
  if constexpr (Left)
    node->_M_left = to;
  else
    node->_M_right = to;
}

LINKS bool is_red(const Node* node) { return node != nullptr && node->_M_color == std::_S_red; }

// `to` comes where `from` hangs. The parent of `to` is the caller's business.
LINKS void hang(Node* from, Node* to, Node& header) {
  Node* parent = from->_M_parent;
  if (parent == &header)
    header._M_parent = to;
  else if (parent->_M_left == from)
    parent->_M_left = to;
  else
    parent->_M_right = to;
}

// `node` goes down on the side, its child of the other side comes up in its place.
template <bool Left>
LINKS void rotate(Node* node, Node& header) {
  Node* up = child<!Left>(node);
  Node* inner = child<Left>(up);
  set_child<!Left>(node, inner);
  if (inner != nullptr) inner->_M_parent = node;
  hang(node, up, header);
  up->_M_parent = node->_M_parent;
  set_child<Left>(up, node);
  node->_M_parent = up;
}

// Red `node` below red `parent`, which is `above`'s child on the side. The node that may now be the same
// trouble further up, or null when there is none left.
template <bool Left>
LINKS Node* mend_red(Node* node, Node* parent, Node* above, Node& header) {
  Node* uncle = child<!Left>(above);
  above->_M_color = std::_S_red;
  if (is_red(uncle)) {
    parent->_M_color = std::_S_black;
    uncle->_M_color = std::_S_black;
    return above;
  }
  if (child<!Left>(parent) == node) {
    rotate<Left>(parent, header);
    parent = node;
  }
  parent->_M_color = std::_S_black;
  rotate<!Left>(above, header);
  return nullptr;
}

// Paths through `node`, which may be null and is `parent`'s child on the side, have one black node too few.
// True when that has moved up to the parent, false when it is mended.
template <bool Left>
LINKS bool mend_black(Node* parent, Node& header) {
  Node* other = child<!Left>(parent);
  if (other->_M_color == std::_S_red) {
    other->_M_color = std::_S_black;
    parent->_M_color = std::_S_red;
    rotate<Left>(parent, header);
    other = child<!Left>(parent);
  }
  Node* near = child<Left>(other);
  Node* far = child<!Left>(other);
  if (!is_red(far)) {
    if (!is_red(near)) {
      other->_M_color = std::_S_red;
      return true;
    }
    near->_M_color = std::_S_black;
    other->_M_color = std::_S_red;
    rotate<!Left>(other, header);
    far = other;
    other = near;
  }
  other->_M_color = parent->_M_color;
  parent->_M_color = std::_S_black;
  far->_M_color = std::_S_black;
  rotate<Left>(parent, header);
  return false;
}

template <bool Left>
LINKS Node* outermost(Node* node) {
  while (Node* further = child<Left>(node)) node = further;
  return node;
}

// The first and the last node are known to the header: `node`, with at most one child, is about to go.
LINKS void leave_ends(const Node* node, Node& header) {
  if (header._M_left == node)
    header._M_left = node->_M_right != nullptr ? outermost<true>(node->_M_right) : node->_M_parent;
  if (header._M_right == node)
    header._M_right = node->_M_left != nullptr ? outermost<false>(node->_M_left) : node->_M_parent;
}

struct Gap {
  Node* below;   // what came up, or null
  Node* parent;  // and where it hangs now
  bool black;    // whether the paths through it have lost a black node
};

// Takes `node`, which has two children, out by putting the next one, which has no left child, in its place.
LINKS Gap replace_by_next(Node* node, Node& header) {
  Node* next = outermost<true>(node->_M_right);
  Gap gap{next->_M_right, next, next->_M_color == std::_S_black};
  if (next != node->_M_right) {
    gap.parent = next->_M_parent;
    gap.parent->_M_left = gap.below;
    if (gap.below != nullptr) gap.below->_M_parent = gap.parent;
    next->_M_right = node->_M_right;
    next->_M_right->_M_parent = next;
  }
  next->_M_left = node->_M_left;
  next->_M_left->_M_parent = next;
  hang(node, next, header);
  next->_M_parent = node->_M_parent;
  next->_M_color = node->_M_color;
  return gap;
}

LINKS Gap take_out(Node* node, Node& header) {
  if (node->_M_left != nullptr && node->_M_right != nullptr) return replace_by_next(node, header);
  leave_ends(node, header);
  Gap gap{node->_M_left != nullptr ? node->_M_left : node->_M_right, node->_M_parent,
          node->_M_color == std::_S_black};
  hang(node, gap.below, header);
  if (gap.below != nullptr) gap.below->_M_parent = gap.parent;
  return gap;
}

// The neighbour of a node in the order of the tree: rightmost of the left, or the first ancestor that it is
// not left of.
template <bool Left>
LINKS Node* climb(Node* node) {
  Node* above = node->_M_parent;
  while (child<Left>(above) == node) {
    node = above;
    above = above->_M_parent;
  }
  // From the last node of a tree whose root has nothing on that side one climbs through the header to the
  // root.
  return !Left && node->_M_right == above ? node : above;
}

LINKS Node* after(Node* node) {
  return node->_M_right != nullptr ? outermost<true>(node->_M_right) : climb<false>(node);
}

LINKS Node* before(Node* node) {
  const bool is_header = node->_M_color == std::_S_red && node->_M_parent->_M_parent == node;
  if (is_header) return node->_M_right;
  return node->_M_left != nullptr ? outermost<false>(node->_M_left) : climb<true>(node);
}

}  // namespace

namespace std {

void _Rb_tree_insert_and_rebalance(const bool left, Node* node, Node* parent, Node& header) throw() {
  node->_M_parent = parent;
  node->_M_left = nullptr;
  node->_M_right = nullptr;
  node->_M_color = _S_red;
  if (parent == &header) {
    header._M_parent = node;
    header._M_left = node;
    header._M_right = node;
  } else if (left) {
    parent->_M_left = node;
    if (header._M_left == parent) header._M_left = node;
  } else {
    parent->_M_right = node;
    if (header._M_right == parent) header._M_right = node;
  }
  while (node != nullptr) {
    parent = node->_M_parent;
    if (parent == &header) {
      node->_M_color = _S_black;
      return;
    }
    if (parent->_M_color == _S_black) return;
    Node* above = parent->_M_parent;  // a node: the root is black
    node = above->_M_left == parent ? mend_red<true>(node, parent, above, header)
                                    : mend_red<false>(node, parent, above, header);
  }
}

Node* _Rb_tree_rebalance_for_erase(Node* const node, Node& header) throw() {
  Gap gap = take_out(node, header);
  if (!gap.black) return node;
  while (gap.parent != &header && !is_red(gap.below)) {
    const bool left = gap.parent->_M_left == gap.below;
    if (!(left ? mend_black<true>(gap.parent, header) : mend_black<false>(gap.parent, header))) return node;
    gap.below = gap.parent;
    gap.parent = gap.below->_M_parent;
  }
  if (gap.below != nullptr) gap.below->_M_color = _S_black;
  return node;
}

Node* _Rb_tree_increment(Node* node) throw() { return after(node); }
const Node* _Rb_tree_increment(const Node* node) throw() { return after(const_cast<Node*>(node)); }
Node* _Rb_tree_decrement(Node* node) throw() { return before(node); }
const Node* _Rb_tree_decrement(const Node* node) throw() { return before(const_cast<Node*>(node)); }

}  // namespace std
