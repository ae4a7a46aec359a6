#include "analysis/conflict/graph.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/assert.h"

namespace cleave::conflict {

Graph::Graph() {
  nodes_.resize(1);  // NodeRef{} points here, and its generation never fits
  infos_.resize(1);
  rows_.resize(1);
  masks_.assign(words_, 0);
}

NodeRef Graph::open(const NodeInfo& info) {
  uint32_t index;
  if (free_nodes_.empty()) {
    index = static_cast<uint32_t>(nodes_.size());
    nodes_.emplace_back();
    infos_.emplace_back();
  } else {
    index = free_nodes_.back();
    free_nodes_.pop_back();
  }
  nodes_[index].is_open = true;
  infos_[index] = info;
  if (const ThreadId thread = info.unit.thread; thread != kNone<ThreadId>) {
    if (raw(thread) >= open_by_thread_.size()) open_by_thread_.resize(raw(thread) + 1);
    ++open_by_thread_[raw(thread)];
  }
  most_live_ = std::max(most_live_, ++live_);
  return {index, nodes_[index].generation};
}

void Graph::end(NodeRef ref) {
  Node& node = nodes_[ref.index];
  CLEAVE_CHECK(node.generation == ref.generation && node.is_open, "a unit ended twice");
  node.is_open = false;
  if (const ThreadId thread = infos_[ref.index].unit.thread; thread != kNone<ThreadId>)
    --open_by_thread_[raw(thread)];
  if (node.row == 0) {
    uint32_t slot = node.slot;
    kill(ref.index);
    if (slot != kNone32) clear_slot(slot);
    return;
  }
  Row& row = rows_[node.row];
  row.owner = kNone32;
  row.first = ref.index;
  row.count = 1;
  node.next_in_row = kNone32;
  if (node.slot != kNone32) {
    uint32_t slot = node.slot;
    node.slot = kNone32;
    clear_slot(slot);
  }
  if (rows_.size() - free_rows_.size() > merge_at_) merge_equal_rows();
}

bool Graph::add_edge(NodeRef from, NodeRef to, const Edge& edge) {
  if (nodes_[from.index].is_open && nodes_[from.index].slot == kNone32) take_slot(from.index);
  const Node& source = nodes_[from.index];
  const Node& target = nodes_[to.index];
  for (uint32_t e = target.in_edges; e != kNone32; e = stored_[e].next) {
    // The same pair again brings nothing: what reaches `from` reaches `to` already, also what came later.
    if (stored_[e].from == from) return false;
  }
  bool closes = target.slot != kNone32 && has_bit(source.row, target.slot);
  store_edge(from, to.index, edge);
  if (absorb(to.index, source.row, source.slot) && nodes_[to.index].slot != kNone32) {
    spread(nodes_[to.index].slot, gained_);
  }
  return closes;
}

// Puts the row of `from` and its slot into the row of `to`. True if that brought anything; gained_ is then
// what.
bool Graph::absorb(uint32_t to, uint32_t from_row, uint32_t from_slot) {
  gained_.assign(mask(from_row), mask(from_row) + words_);
  if (from_slot != kNone32) gained_[from_slot / 64] |= uint64_t{1} << (from_slot % 64);
  uint32_t own = nodes_[to].slot;
  if (own != kNone32) gained_[own / 64] &= ~(uint64_t{1} << (own % 64));
  uint64_t fresh = 0;
  for (size_t w = 0; w < words_; ++w) fresh |= gained_[w] & ~mask(nodes_[to].row)[w];
  if (fresh == 0) return false;
  if (nodes_[to].row == 0) {
    uint32_t row = take_row();
    nodes_[to].row = row;
    rows_[row].owner = to;
  }
  uint64_t* target = mask(nodes_[to].row);
  for (size_t w = 0; w < words_; ++w) target[w] |= gained_[w];
  return true;
}

// Everything that the open node of `slot` reaches is now also reached from `gained`.
void Graph::spread(uint32_t slot, const std::vector<uint64_t>& gained) {
  if (words_ == 1) {
    uint64_t gain = gained[0];
    for (uint64_t& row : masks_) row |= (0 - (row >> slot & 1)) & gain;
    return;
  }
  for (uint32_t row = 1; row < rows_.size(); ++row) {
    if (!has_bit(row, slot)) continue;
    for (size_t w = 0; w < words_; ++w) mask(row)[w] |= gained[w];
  }
}

void Graph::clear_slot(uint32_t slot) {
  size_t word = slot / 64;
  uint64_t bit = uint64_t{1} << (slot % 64);
  emptied_.clear();
  if (words_ == 1) {  // which rows have the bit is hard to foresee; that it was their last one is rare
    for (uint32_t row = 1; row < rows_.size(); ++row) {
      const uint64_t before = std::exchange(masks_[row], masks_[row] & ~bit);
      if (before == bit) emptied_.push_back(row);
    }
  } else {
    for (uint32_t row = 1; row < rows_.size(); ++row) {
      uint64_t* bits = mask(row);
      if ((bits[word] & bit) == 0) continue;
      bits[word] &= ~bit;
      if (std::all_of(bits, bits + words_, [](uint64_t w) { return w == 0; })) emptied_.push_back(row);
    }
  }
  free_slots_.push_back(slot);
  for (uint32_t row : emptied_) row_is_empty(row);
}

void Graph::row_is_empty(uint32_t row) {
  if (rows_[row].owner != kNone32) {
    nodes_[rows_[row].owner].row = 0;
  } else {
    for (uint32_t node = rows_[row].first; node != kNone32;) {
      uint32_t next = nodes_[node].next_in_row;
      kill(node);
      node = next;
    }
  }
  drop_row(row);
}

uint32_t Graph::take_slot(uint32_t node) {
  if (free_slots_.empty()) {
    uint32_t first = static_cast<uint32_t>(slot_owner_.size());
    if (first != 0) widen();
    slot_owner_.resize(first + 64, kNone32);
    for (uint32_t s = 64; s > 0; --s) free_slots_.push_back(first + s - 1);
  }
  uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  slot_owner_[slot] = node;
  return nodes_[node].slot = slot;
}

// One more word a row: 64 more open units that overlap in conflict.
void Graph::widen() {
  std::vector<uint64_t> wider(rows_.size() * (words_ + 1), 0);
  for (size_t row = 0; row < rows_.size(); ++row) {
    std::copy_n(&masks_[row * words_], words_, &wider[row * (words_ + 1)]);
  }
  masks_ = std::move(wider);
  ++words_;
}

uint32_t Graph::take_row() {
  if (!free_rows_.empty()) {
    uint32_t row = free_rows_.back();
    free_rows_.pop_back();
    return row;
  }
  rows_.emplace_back();
  masks_.resize(masks_.size() + words_, 0);
  return static_cast<uint32_t>(rows_.size() - 1);
}

void Graph::drop_row(uint32_t row) {
  rows_[row] = Row{};
  std::fill_n(mask(row), words_, 0);
  free_rows_.push_back(row);
}

void Graph::merge_equal_rows() {
  auto hash_row = [&](uint32_t row) {
    size_t h = 0;
    for (size_t w = 0; w < words_; ++w) h = (h ^ mask(row)[w]) * 0x9e3779b97f4a7c15ull, h ^= h >> 29;
    return h;
  };
  auto same_row = [&](uint32_t a, uint32_t b) { return std::equal(mask(a), mask(a) + words_, mask(b)); };
  // Largest first, so that the smaller side is relabelled, as in union-find.
  std::vector<uint32_t> ended;
  for (uint32_t row = 1; row < rows_.size(); ++row) {
    if (rows_[row].count != 0) ended.push_back(row);
  }
  std::sort(ended.begin(), ended.end(), [&](uint32_t a, uint32_t b) {
    return rows_[a].count != rows_[b].count ? rows_[a].count > rows_[b].count : a < b;
  });
  std::unordered_set<uint32_t, decltype(hash_row), decltype(same_row)> kept(ended.size(), hash_row, same_row);
  for (uint32_t row : ended) {
    auto [it, fresh] = kept.insert(row);
    if (!fresh) pour(row, *it);
  }
  merge_at_ = std::max<size_t>(256, 2 * (rows_.size() - free_rows_.size()));
}

// The nodes of `row` go over to `into`, which has the same mask.
void Graph::pour(uint32_t row, uint32_t into) {
  uint32_t last = kNone32;
  for (uint32_t node = rows_[row].first; node != kNone32; node = nodes_[node].next_in_row) {
    nodes_[node].row = into;
    last = node;
  }
  nodes_[last].next_in_row = rows_[into].first;
  rows_[into].first = rows_[row].first;
  rows_[into].count += rows_[row].count;
  drop_row(row);
}

void Graph::kill(uint32_t index) {
  Node& node = nodes_[index];
  for (uint32_t e = node.in_edges; e != kNone32; e = stored_[e].next) free_edges_.push_back(e);
  uint32_t generation = node.generation + 1;
  node = Node{};
  node.generation = generation;
  free_nodes_.push_back(index);
  --live_;
}

void Graph::store_edge(NodeRef from, uint32_t to, const Edge& edge) {
  uint32_t e;
  if (free_edges_.empty()) {
    e = static_cast<uint32_t>(stored_.size());
    stored_.emplace_back();
  } else {
    e = free_edges_.back();
    free_edges_.pop_back();
  }
  stored_[e] = {.from = from, .to = to, .next = nodes_[to].in_edges, .edge = edge};
  nodes_[to].in_edges = e;
  ++edges_stored_;
}

Cycle Graph::cycle_through(NodeRef from, NodeRef to) {
  // Breadth first, backward from `from`, until `to` is met: the fewest units.
  uint32_t slot = nodes_[to.index].slot;
  ++nodes_[to.index].searches;
  ++search_;
  queue_.assign(1, from.index);
  nodes_[from.index].visited = search_;
  nodes_[from.index].parent_edge = kNone32;
  bool found = false;
  for (size_t next = 0; next < queue_.size() && !found; ++next) {
    for (uint32_t e = nodes_[queue_[next]].in_edges; e != kNone32; e = stored_[e].next) {
      const StoredEdge& stored = stored_[e];
      Node& before = nodes_[stored.from.index];
      if (!alive(stored.from) || before.visited == search_) continue;
      if (stored.from != to && !has_bit(before.row, slot)) continue;
      before.visited = search_;
      before.parent_edge = e;
      found = stored.from == to;
      if (found) break;
      queue_.push_back(stored.from.index);
    }
  }
  CLEAVE_CHECK(found, "an edge was said to close a cycle, and there is none");
  Cycle cycle;
  for (uint32_t node = to.index; node != from.index;) {
    const StoredEdge& stored = stored_[nodes_[node].parent_edge];
    cycle.push_back({infos_[node], stored.edge});
    node = stored.to;
  }
  uint32_t closing = nodes_[to.index].in_edges;
  while (stored_[closing].from != from) closing = stored_[closing].next;
  cycle.push_back({infos_[from.index], stored_[closing].edge});
  return cycle;
}

}  // namespace cleave::conflict
