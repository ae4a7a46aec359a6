#include "feasibility/lift/predicted_run.h"

#include <fmt/format.h>

#include <boost/unordered/unordered_flat_map.hpp>

namespace cleave {
namespace {

class Run {
 public:
  Run(const SymbolicTrace& symbolic, const std::map<std::string, uint64_t>& inputs)
      : symbolic_(symbolic),
        trace_(symbolic.trace()),
        inputs_(inputs),
        values_(symbolic.symbols().size(), 0) {
    for (const ThreadInfo& thread : trace_.threads()) built_.add_thread(thread);
    for (const VariableInfo& variable : trace_.variables()) built_.add_variable(variable);
    for (const SyncInfo& sync : trace_.syncs()) built_.add_sync(sync);
  }

  Status step(EventIndex at) {
    Event event = trace_.event(at);
    event.site = kNone<SiteId>;
    uint64_t read = 0;
    if (SymbolId symbol = symbolic_.bound(at); symbol != kNone<SymbolId>) {
      const SymbolInfo& info = symbolic_.symbol(symbol);
      auto chosen = inputs_.find(info.name);
      uint64_t value = is_access(event.kind)                   ? held(event.variable(), at)
                       : info.input && chosen != inputs_.end() ? chosen->second
                                                               : info.recorded;
      values_[raw(symbol)] = truncate(value, info.width);
    }
    if (reads(event.kind)) read = held(event.variable(), at);
    ExpressionId condition = symbolic_.condition(at);
    if (condition != kNone<ExpressionId> && symbolic_.pool().evaluate(condition, values_) == 0) {
      return Error{fmt::format("event {}", raw(at)),
                   trace_.thread(event.thread).name + " would leave its path here"};
    }
    if (event.kind == EventKind::Read) event.value = read;
    if (writes(event.kind)) {
      ExpressionId stored = symbolic_.stored(at);
      if (stored != kNone<ExpressionId>) event.value = symbolic_.pool().evaluate(stored, values_);
      if (const MovingStore* moving = symbolic_.moving(at)) {
        event.object = target(*moving);
        if (event.object == UINT32_MAX) return Done{};  // to an element that no event touches
      }
      memory_[event.object] = event.value;
    }
    if (is_access(event.kind) && symbolic_.written_outside(event.variable()))
      return Done{};  // others write it too, unseen
    if (event.kind == EventKind::Update) {
      built_.add_update(event, read);
    } else {
      built_.add(event);
    }
    return Done{};
  }

  Trace take() { return std::move(built_).build(); }

 private:
  uint64_t recorded(EventIndex at) const {
    return trace_.event(at).kind == EventKind::Update ? trace_.old_value(at) : trace_.event(at).value;
  }

  uint64_t held(VariableId variable, EventIndex at) {
    if (symbolic_.written_outside(variable)) return recorded(at);
    auto it = memory_.find(raw(variable));
    if (it != memory_.end()) return it->second;
    const VariableInfo& info = trace_.variable(variable);
    if (symbolic_.bound(at) != kNone<SymbolId> || info.initial_known) return info.initial;
    return recorded(at);
  }

  uint32_t target(const MovingStore& moving) const {
    uint64_t index = symbolic_.pool().evaluate(moving.index, values_);
    for (const MovingStore::Place& place : moving.places) {
      if (place.index == index) return raw(place.variable);
    }
    return UINT32_MAX;
  }

  const SymbolicTrace& symbolic_;
  const Trace& trace_;
  const std::map<std::string, uint64_t>& inputs_;
  std::vector<uint64_t> values_;  // by symbol
  boost::unordered_flat_map<uint32_t, uint64_t> memory_;
  TraceBuilder built_;
};

}  // namespace

Result<Trace> predicted_run(const SymbolicTrace& symbolic, std::span<const EventIndex> order,
                            const std::map<std::string, uint64_t>& inputs) {
  Run run(symbolic, inputs);
  for (EventIndex at : order) {
    if (Status done = run.step(at); !done) return done.error();
  }
  return run.take();
}

}  // namespace cleave
