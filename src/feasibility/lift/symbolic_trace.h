// A trace with the program's data: what each read binds, what each write computes, which conditions were
// taken. Made from a text trace's `-> name`, `= expr` and `assume` here; from a recorded run by walking its
// bitcode.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "feasibility/lift/expression.h"
#include "trace/core/trace.h"

namespace cleave {

struct SymbolInfo {
  std::string name;  // as bound, or a name of its own
  EventIndex event;  // the read, update or input that binds it
  uint8_t width = kInteger;
  uint64_t recorded = 0;  // its value in the recorded run
  bool input = false;
};

// A store to an element of an array whose index depends on symbols (the paper's a[i]): the index says where
// it goes. The event's condition keeps it within the array.
struct MovingStore {
  struct Place {
    VariableId variable;
    uint64_t index;  // value of `index` with which it goes there
  };
  ExpressionId index;
  std::vector<Place>
      places;  // elements that the trace has accesses of; the one that was recorded is among them
};

// Per event, by position in the trace. The trace must outlive it.
class SymbolicTrace {
 public:
  explicit SymbolicTrace(const Trace& trace);

  const Trace& trace() const { return *trace_; }
  const ExpressionPool& pool() const { return pool_; }
  ExpressionPool& pool() { return pool_; }

  // What the read, update or input binds; kNone where nothing depends on the value.
  SymbolId bound(EventIndex event) const { return bound_[raw(event)]; }
  // What the write or update stores; kNone for other events.
  ExpressionId stored(EventIndex event) const { return stored_[raw(event)]; }
  // What an assume asks for; kNone for other events.
  ExpressionId condition(EventIndex event) const { return condition_[raw(event)]; }

  // The first event of the straight run of code that the event is in: a scheduler that decides between such
  // runs does not come between their events. The event itself where that is not known.
  EventIndex run_of(EventIndex event) const { return run_.empty() ? event : run_[raw(event)]; }
  void set_runs(std::vector<EventIndex> run_of_event) { run_ = std::move(run_of_event); }

  std::span<const SymbolInfo> symbols() const { return symbols_; }
  const SymbolInfo& symbol(SymbolId id) const { return symbols_[raw(id)]; }
  // Code that is not instrumented has written it too: somewhere it held what no event wrote. Its reads bind
  // nothing and keep their recorded values.
  bool written_outside(VariableId variable) const { return !outside_.empty() && outside_[raw(variable)]; }
  void set_written_outside(std::vector<bool> variables) { outside_ = std::move(variables); }
  // Events that stay in the order in which they were recorded: accesses of such variables, and what ran where
  // one of them was written unseen. The first of each pair comes before the second in every interleaving.
  std::span<const std::pair<EventIndex, EventIndex>> kept_order() const { return kept_order_; }
  void set_kept_order(std::vector<std::pair<EventIndex, EventIndex>> pairs) {
    kept_order_ = std::move(pairs);
  }
  // Value of the variable before the first event, as an expression of that width.
  ExpressionId initial(VariableId variable, uint8_t width);

  SymbolId bind(EventIndex event, std::string name, uint8_t width, uint64_t recorded, bool input = false);
  void store(EventIndex event, ExpressionId value) { stored_[raw(event)] = value; }
  void assume(EventIndex event, ExpressionId condition) { condition_[raw(event)] = condition; }
  void move(EventIndex event, MovingStore store) { moving_[raw(event)] = std::move(store); }
  // Null for a store that goes where it went.
  const MovingStore* moving(EventIndex event) const {
    auto it = moving_.find(raw(event));
    return it == moving_.end() ? nullptr : &it->second;
  }
  const std::map<uint64_t, MovingStore>& moving() const { return moving_; }  // by event

 private:
  const Trace* trace_;
  ExpressionPool pool_;
  std::vector<SymbolInfo> symbols_;
  std::vector<bool> outside_;  // by variable; empty: none
  std::vector<std::pair<EventIndex, EventIndex>> kept_order_;
  std::vector<SymbolId> bound_;
  std::vector<ExpressionId> stored_, condition_;
  std::vector<EventIndex> run_;  // by event; empty: every event is a run of its own
  std::map<uint64_t, MovingStore> moving_;
};

// From the annotations of a text trace. A trace without any annotation says nothing of how values flow: then
// every read binds a symbol that must keep its recorded value, so nothing infeasible can follow. A name may
// be bound again; it means its latest binding in the same thread, else the latest in the trace.
Result<SymbolicTrace> lift_annotations(const Trace& trace);

}  // namespace cleave
