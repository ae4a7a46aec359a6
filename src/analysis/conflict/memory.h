// Who touched what last: the edges of definition 2 come out of this. For each variable the last write, and
// the reads since, of units that can still matter. One cache line a variable.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/conflict/graph.h"
#include "base/huge_pages.h"
#include "trace/core/event.h"

namespace cleave::conflict {

struct Touch {
  NodeRef node;
  Access access;
};

// Zero bytes: nobody has touched it.
struct alignas(64) VariableState {
  Touch writer;
  Touch reader;   // one of the readers since the last write; the others are in Memory::more_
  uint32_t more;  // 1 + where, 0: there are no others
  uint32_t
      toucher;  // 1 + the only thread that has touched it; UINT32_MAX: there are several (atomic sets only)
  EventKind writer_kind;
  bool named;  // an edge may speak of it
};
static_assert(sizeof(VariableState) == 64);

class Memory {
 public:
  VariableState& at(VariableId variable) {
    if (raw(variable) >= states_.size()) [[unlikely]]
      states_.grow(raw(variable) + size_t{1});
    return states_[raw(variable)];
  }
  void prefetch(uint32_t variable) const {
    if (variable < states_.size()) __builtin_prefetch(&states_[variable], 1);
  }
  // Notes who touches it. Whether no other thread has so far.
  bool only_by(VariableId variable, ThreadId thread) {
    VariableState& state = at(variable);
    const uint32_t me = raw(thread) + 1;
    if (state.toucher == me) [[likely]]
      return true;
    const bool first = state.toucher == 0;
    state.toucher = first ? me : UINT32_MAX;
    return first;
  }
  void reserve(size_t variables) { states_.grow(variables); }

  // The open unit of the event's thread that has touched its variable since another thread wrote it last;
  // NodeRef{}: there is none. O(live readers since the last write), which a write forgets; of a read O(1):
  // it looks at the last kReadersAsked of them.
  NodeRef holder(const Graph& graph, const Event& event) const;

  // Calls edge(touch, its kind, kind of the edge) for every live touch of another unit that the access of
  // `node` conflicts with, and remembers the access. O(live readers since the last write).
  template <typename OnEdge>
  void access(const Graph& graph, NodeRef node, const Event& event, OnEdge&& edge) {
    VariableState& state = at(event.variable());
    if (!writes(event.kind)) return read(graph, state, node, event, edge);
    if (state.writer.node != node && graph.alive(state.writer.node)) {
      edge(state.writer, state.writer_kind, EdgeKind::WriteWrite);
    }
    forget_readers(state, [&](const Touch& reader) {
      if (reader.node != node && graph.alive(reader.node)) edge(reader, EventKind::Read, EdgeKind::ReadWrite);
    });
    state.writer = touch(node, event);
    state.writer_kind = event.kind;
  }

  // Whether access() would call edge for a unit that has done nothing yet.
  bool any_live(const Graph& graph, const Event& event);
  // The access of a unit that nothing reaches and that is over: whatever it hides is hidden.
  void forget(const Event& event) {
    if (!writes(event.kind)) return;
    VariableState& state = at(event.variable());
    state.writer = Touch{};
    forget_readers(state, [](const Touch&) {});
  }
  // Whether an edge may speak of the variable.
  bool named(VariableId variable) const {
    return raw(variable) < states_.size() && states_[raw(variable)].named;
  }
  // The variable is no more: whoever has its number next begins anew.
  void forget(VariableId variable) {
    if (raw(variable) >= states_.size()) return;
    VariableState& state = states_[raw(variable)];
    forget_readers(state, [](const Touch&) {});
    state = VariableState{};
  }
  // What was known of `whole` holds for `part`.
  void copy(VariableId whole, VariableId part);

 private:
  static constexpr size_t kReadersAsked = 64;

  static Touch touch(NodeRef node, const Event& event) {
    return {node, {event.value, event.site, event.context}};
  }

  template <typename OnEdge>
  void read(const Graph& graph, VariableState& state, NodeRef node, const Event& event, OnEdge&& edge) {
    // A unit's later reads, and reads of its own write, have the edges that it has already.
    if (state.reader.node == node || state.writer.node == node) return;
    if (graph.alive(state.writer.node)) edge(state.writer, state.writer_kind, EdgeKind::WriteRead);
    if (graph.alive(state.reader.node)) keep_reader(graph, state, node);
    state.reader = touch(node, event);
  }
  template <typename OnReader>
  void forget_readers(VariableState& state, OnReader&& on_reader) {
    if (state.reader.node != NodeRef{}) {
      on_reader(state.reader);
      state.reader = Touch{};
    }
    if (state.more == 0) return;
    for (const Touch& reader : more_[state.more - 1]) on_reader(reader);
    more_[state.more - 1].clear();
    free_more_.push_back(state.more);
    state.more = 0;
  }
  void keep_reader(const Graph& graph, VariableState& state, NodeRef comes);
  static void keep_last_reads(const Graph& graph, std::vector<Touch>& readers);
  uint32_t take_more();

  ZeroedArray<VariableState> states_;
  std::vector<std::vector<Touch>> more_;
  std::vector<uint32_t> free_more_;
};

}  // namespace cleave::conflict
