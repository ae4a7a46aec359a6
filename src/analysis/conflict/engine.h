// What the two notions of a set share: the graph, the memory, the log of cycles.
#pragma once

#include <optional>
#include <span>

#include "analysis/conflict/check.h"
#include "analysis/conflict/cycles.h"
#include "analysis/conflict/graph.h"
#include "analysis/conflict/memory.h"

namespace cleave::conflict {

class Engine {
 public:
  Engine(SetMap& sets, const Trace& tables, const CheckOptions& options)
      : sets_(sets), tables_(tables), options_(options), log_(sets, tables, options.on_finding) {}
  virtual ~Engine() = default;

  // `first` is the position of the first of the events. False: stop.
  virtual bool feed(std::span<const Event> events, uint64_t first) = 0;
  void split(const VariableSplit& split) {
    for (VariableId part : split.parts) memory_.copy(split.whole, part);
  }
  // What is here ends. The tables still have it.
  void forget(const FreedIds& freed) {
    for (VariableId variable : freed.variables) memory_.forget(variable);
  }
  virtual size_t deepest() const = 0;

  const Graph& graph() const { return graph_; }
  const CycleLog& log() const { return log_; }
  std::optional<EventIndex> first_violation() const { return first_violation_; }
  uint64_t units() const { return units_; }

 protected:
  // Stores the edge and, if it closes a cycle, logs it.
  void connect(NodeRef from, NodeRef to, const Edge& edge, uint64_t position) {
    if (graph_.add_edge(from, to, edge)) [[unlikely]]
      closed(from, to, position);
  }
  void access(NodeRef node, const Event& event, uint64_t position) {
    memory_.access(graph_, node, event, [&](const Touch& before, EventKind before_kind, EdgeKind kind) {
      connect(before.node, node,
              {.kind = kind,
               .first_kind = before_kind,
               .second_kind = event.kind,
               .object = event.object,
               .first = before.access,
               .second = {event.value, event.site, event.context}},
              position);
    });
  }
  NodeRef open(const Unit& unit, SetId set) {
    ++units_;
    return graph_.open({unit, set});
  }
  bool stopped() const { return options_.stop_at_first && first_violation_.has_value(); }

  SetMap& sets_;
  const Trace& tables_;
  const CheckOptions& options_;
  Graph graph_;
  Memory memory_;
  CycleLog log_;
  std::optional<EventIndex> first_violation_;
  uint64_t units_ = 0;

 private:
  void closed(NodeRef from, NodeRef to, uint64_t position) {
    if (!first_violation_) first_violation_ = EventIndex{position};
    log_.add(graph_.cycle_through(from, to));
  }
};

// Definition 1: serializability of the projection on each set.
std::unique_ptr<Engine> make_atomic_sets(SetMap& sets, const Trace& tables, const CheckOptions& options);
// `--sets one`: plain conflict serializability.
std::unique_ptr<Engine> make_one_set(SetMap& sets, const Trace& tables, const CheckOptions& options);

}  // namespace cleave::conflict
