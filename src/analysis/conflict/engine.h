// What the two notions of a set share: the graph, the memory, the log of cycles.
#pragma once

#include <optional>
#include <span>

#include "analysis/conflict/check.h"
#include "analysis/conflict/cycles.h"
#include "analysis/conflict/graph.h"
#include "analysis/conflict/memory.h"
#include "analysis/conflict/names.h"

namespace cleave::conflict {

class Engine {
 public:
  Engine(SetMap& sets, const Trace& tables, const CheckOptions& options)
      : sets_(sets),
        tables_(tables),
        options_(options),
        names_(sets, tables),
        lock_functions_(tables),
        log_(names_, lock_functions_, sets, tables, [this](const Finding& finding) { told(finding); }) {}
  virtual ~Engine() = default;

  // `first` is the position of the first of the events. False: stop.
  virtual bool feed(std::span<const Event> events, uint64_t first) = 0;
  void split(const VariableSplit& split) {
    for (VariableId part : split.parts) memory_.copy(split.whole, part);
  }
  // What is here ends. The tables still have it. O(1) each, amortised.
  void forget(const FreedIds& freed) {
    if (freed.variables.empty() && freed.objects.empty() && freed.syncs.empty()) return;
    for (VariableId variable : freed.variables) {
      if (memory_.named(variable)) names_.keep(variable);
      memory_.forget(variable);
    }
    if (graph_.live() != 0) {
      for (SyncId sync : freed.syncs) names_.keep(sync);
    }
    names_.next_era(graph_);
    ended(freed);
    sets_.forget(freed);
  }
  virtual size_t deepest() const = 0;
  // How many entries there are besides the live graph and what ids of variables and threads index.
  virtual size_t held() const { return names_.size() + sets_.size(); }

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
  // What the engine itself knows of these has to go.
  virtual void ended(const FreedIds&) {}
  void access(NodeRef node, const Event& event, uint64_t position) {
    memory_.access(graph_, node, event, [&](const Touch& before, EventKind before_kind, EdgeKind kind) {
      // Of two open units of one thread neither comes before the other (AtomicSets::keeper).
      if (graph_.open_in(before.node, event.thread)) return;
      connect(before.node, node,
              {.kind = kind,
               .first_kind = before_kind,
               .second_kind = event.kind,
               .object = event.object,
               .era = names_.era(),
               .first = before.access,
               .second = {event.value, event.site, event.context}},
              position);
      memory_.at(event.variable()).named = true;
    });
  }
  NodeRef open(const Unit& unit) {
    ++units_;
    return graph_.open({unit, names_.era()});
  }
  bool stopped() const { return stop_; }

  SetMap& sets_;
  const Trace& tables_;
  const CheckOptions& options_;
  Graph graph_;
  Memory memory_;
  Names names_;
  LockFunctions lock_functions_;
  CycleLog log_;
  std::optional<EventIndex> first_violation_;
  uint64_t units_ = 0;

 private:
  void told(const Finding& finding) {
    stop_ = stop_ || (options_.stop_at_first && !(options_.known && options_.known(finding)));
    if (options_.on_finding) options_.on_finding(finding);
  }
  void closed(NodeRef from, NodeRef to, uint64_t position) {
    // A write after ten thousand others have read closes as many cycles at once, which say the same.
    constexpr uint32_t kMostOfOneUnit = 256;
    if (graph_.info(to).unit.context_only) return;
    if (!first_violation_) first_violation_ = EventIndex{position};
    if (graph_.searches(to) < kMostOfOneUnit)
      log_.add(graph_.cycle_through(from, to));
    else
      log_.pass_over();
  }

  bool stop_ = false;
};

// Definition 1: serializability of the projection on each set.
std::unique_ptr<Engine> make_atomic_sets(SetMap& sets, const Trace& tables, const CheckOptions& options);
// The units of a map, for a trace that is fed as a whole: each on its group of variables, in program order.
std::unique_ptr<Engine> make_given_units(SetMap& sets, const Trace& tables, const CheckOptions& options,
                                         const UnitMap& units);
// `--sets one`: plain conflict serializability.
std::unique_ptr<Engine> make_one_set(SetMap& sets, const Trace& tables, const CheckOptions& options);

}  // namespace cleave::conflict
