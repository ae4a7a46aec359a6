// The live part of a conflict graph, with exact cycle detection at the edge that closes the cycle.
//
// Nodes are units (of one set). An edge only ever enters the node that is doing an access now, so an open
// one. Hence a node can be on a future cycle only while an open node reaches it: everything else is dead, is
// forgotten at once, and edges from it are not even stored. In a run without overlapping conflicts the graph
// is always empty.
//
// Which open nodes reach a node is kept as a bit mask, closed under reachability at all times:
//   - an open node gets a bit (a slot) when its first out-edge is stored, and gives it back when it ends;
//   - masks stand in rows. An open node has a row of its own; nodes that have ended share one when their
//   masks are
//     equal, because no edge enters them any more and so their masks stay equal for ever. An eternal unit
//     that reaches everything after it therefore costs one row, not one a node;
//   - an edge n → v with v in the mask of n closes a cycle. Otherwise v's row takes n's mask, and if v has a
//   slot, so
//     does every row with v's bit: one pass over the rows, 64 nodes a word.
// An edge costs O(1) when n is dead or brings nothing new, else O(rows × words); both numbers are those of
// the open units that overlap in conflict, not of the trace. AeroDrome and its successors keep a clock entry
// per thread instead, which needs the program-order edges that atomic sets do not have, and finds a cycle up
// to a whole unit too late.
//
// In-edges from live nodes are kept with both accesses, so that a cycle can be shown: search backward from n,
// only through nodes with v's bit, which all lie between v and n.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "units/sets.h"
#include "units/units.h"

namespace cleave::conflict {

// A node that may be gone: index and generation. Default: no node.
struct NodeRef {
  uint32_t index = 0;
  uint32_t generation = 0;
  friend bool operator==(NodeRef, NodeRef) = default;
};

// One side of an edge, as it goes into reports.
struct Access {
  uint64_t value = 0;
  SiteId site = kNone<SiteId>;
  ContextId context = kNone<ContextId>;
};

enum class EdgeKind : uint8_t { WriteRead, ReadWrite, WriteWrite, Lock, ProgramOrder, Fork, Join };

struct Edge {
  EdgeKind kind = EdgeKind::WriteWrite;
  EventKind first_kind = EventKind::Write, second_kind = EventKind::Write;
  uint32_t object = UINT32_MAX;  // variable of a conflict, lock of a Lock edge
  uint32_t era = 0;              // when that was its id (names.h)
  Access first, second;
};

// What a node stands for.
struct NodeInfo {
  Unit unit;
  uint32_t era = 0;  // when unit.lock was its id (names.h)
};

// A cycle of units: steps[i].edge leads from steps[i] to steps[i + 1], the last one back to the first. The
// last edge is the one that closed it.
struct CycleStep {
  NodeInfo node;
  Edge edge;
};
using Cycle = std::vector<CycleStep>;

class Graph {
 public:
  Graph();

  // A new open node.
  NodeRef open(const NodeInfo& info);
  // The unit is over: no edge enters it any more.
  void end(NodeRef node);
  // Whether an edge from the node can still matter: it is open, or an open node reaches it.
  bool alive(NodeRef node) const { return nodes_[node.index].generation == node.generation; }
  // Whether it is an open unit of the thread.
  bool open_in(NodeRef node, ThreadId thread) const {
    return alive(node) && nodes_[node.index].is_open && infos_[node.index].unit.thread == thread;
  }
  // How many nodes of the thread are open.
  uint32_t open_nodes(ThreadId thread) const {
    return raw(thread) < open_by_thread_.size() ? open_by_thread_[raw(thread)] : 0;
  }
  // Adds from → to unless it is there. `from` must be alive, `to` open, and they must differ. True: it closes
  // a cycle.
  bool add_edge(NodeRef from, NodeRef to, const Edge& edge);
  const NodeInfo& info(NodeRef node) const { return infos_[node.index]; }
  // How many cycles that this open node closed were asked for.
  uint32_t searches(NodeRef node) const { return nodes_[node.index].searches; }
  // After add_edge returned true: a shortest cycle through that edge. O(live edges).
  Cycle cycle_through(NodeRef from, NodeRef to);

  // Calls on_node(NodeInfo) for every live node and on_edge(Edge) for every edge between two.
  template <typename OnNode, typename OnEdge>
  void visit(OnNode&& on_node, OnEdge&& on_edge) const {
    for (uint32_t node = 1; node < nodes_.size(); ++node) {
      if (!nodes_[node].is_open && nodes_[node].row == 0) continue;
      on_node(infos_[node]);
      for (uint32_t e = nodes_[node].in_edges; e != kNone32; e = stored_[e].next) {
        if (alive(stored_[e].from)) on_edge(stored_[e].edge);
      }
    }
  }
  size_t live() const { return live_; }
  size_t most_live() const { return most_live_; }
  uint64_t edges_stored() const { return edges_stored_; }

 private:
  static constexpr uint32_t kNone32 = UINT32_MAX;
  struct Node {
    uint32_t generation = 1;
    uint32_t row = 0;                // row 0 is empty for ever
    uint32_t slot = kNone32;         // of an open node that has out-edges
    uint32_t in_edges = kNone32;     // list in stored_
    uint32_t next_in_row = kNone32;  // of nodes that have ended
    uint32_t visited = 0;
    uint32_t parent_edge = kNone32;  // search: the edge towards n
    uint32_t searches = 0;           // cycles through it that were asked for
    bool is_open = false;
  };
  struct Row {
    uint32_t first = kNone32;  // ended nodes that share it
    uint32_t count = 0;
    uint32_t owner = kNone32;  // the open node whose own it is
  };
  struct StoredEdge {
    NodeRef from;
    uint32_t to = 0;
    uint32_t next = kNone32;
    Edge edge;
  };

  uint64_t* mask(uint32_t row) { return &masks_[static_cast<size_t>(row) * words_]; }
  const uint64_t* mask(uint32_t row) const { return &masks_[static_cast<size_t>(row) * words_]; }
  bool has_bit(uint32_t row, uint32_t slot) const { return mask(row)[slot / 64] >> (slot % 64) & 1; }
  uint32_t take_slot(uint32_t node);
  void widen();
  uint32_t take_row();
  void drop_row(uint32_t row);
  bool absorb(uint32_t to, uint32_t from_row, uint32_t from_slot);
  void spread(uint32_t slot, const std::vector<uint64_t>& gained);
  void clear_slot(uint32_t slot);
  void row_is_empty(uint32_t row);
  void merge_equal_rows();
  void pour(uint32_t row, uint32_t into);
  void kill(uint32_t node);
  void store_edge(NodeRef from, uint32_t to, const Edge& edge);

  std::vector<Node> nodes_;
  std::vector<NodeInfo> infos_;
  std::vector<uint32_t> free_nodes_;
  size_t words_ = 1;
  std::vector<uint64_t> masks_;
  std::vector<Row> rows_;
  std::vector<uint32_t> free_rows_;
  size_t merge_at_ = 256;
  std::vector<uint32_t> slot_owner_;
  std::vector<uint32_t> free_slots_;
  std::vector<StoredEdge> stored_;
  std::vector<uint32_t> free_edges_;
  std::vector<uint64_t> gained_;
  std::vector<uint32_t> emptied_;
  std::vector<uint32_t> queue_;
  uint32_t search_ = 0;
  std::vector<uint32_t> open_by_thread_;
  size_t live_ = 0, most_live_ = 0;
  uint64_t edges_stored_ = 0;
};

}  // namespace cleave::conflict
