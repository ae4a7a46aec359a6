#include "feasibility/lift/symbolic_trace.h"

#include <map>

#include <fmt/format.h>

namespace cleave {
namespace {

// Names as a thread sees them at its current event.
class Scope final : public NameResolver {
 public:
  explicit Scope(SymbolicTrace& trace) : trace_(trace) {}

  void enter(ThreadId thread) { thread_ = thread; }
  void bind(const std::string& name, SymbolId symbol) {
    own_[{raw(thread_), name}] = symbol;
    any_[name] = symbol;
  }
  ExpressionId resolve(std::string_view name) override {
    std::string key(name);
    SymbolId found = kNone<SymbolId>;
    if (auto own = own_.find({raw(thread_), key}); own != own_.end()) {
      found = own->second;
    } else if (auto any = any_.find(key); any != any_.end()) {
      found = any->second;
    } else {
      return kNone<ExpressionId>;
    }
    return trace_.pool().symbol(found, trace_.symbol(found).width);
  }

 private:
  SymbolicTrace& trace_;
  ThreadId thread_{};
  std::map<std::pair<uint32_t, std::string>, SymbolId> own_;
  std::map<std::string, SymbolId> any_;
};

bool has_annotations(const Trace& trace) {
  for (size_t i = 0; i < trace.size(); ++i) {
    if (trace.symbolic(id_of<EventIndex>(i)) != nullptr) return true;
  }
  return false;
}

// Whether what follows a read could depend on its value: giving a lock back does not.
bool may_depend(EventKind kind) {
  return kind != EventKind::Release && kind != EventKind::ReleaseShared && kind != EventKind::End &&
         kind != EventKind::Exit;
}

// A trace without data: every write is what it was, and a read must have returned what it returned as soon as
// its thread does anything that could depend on it.
void pin_recorded_values(SymbolicTrace& lifted) {
  const Trace& trace = lifted.trace();
  ExpressionPool& pool = lifted.pool();
  std::map<uint32_t, ExpressionId> pending;  // thread → what its next event that may depend asks for
  for (size_t i = 0; i < trace.size(); ++i) {
    const Event& event = trace.events()[i];
    EventIndex at = id_of<EventIndex>(i);
    if (auto it = pending.find(raw(event.thread)); it != pending.end() && may_depend(event.kind)) {
      lifted.assume(at, it->second);
      pending.erase(it);
    }
    if (writes(event.kind)) lifted.store(at, pool.constant(event.value, kInteger));
    if (!reads(event.kind)) continue;
    uint64_t value = event.kind == EventKind::Update ? trace.old_value(at) : event.value;
    SymbolId symbol = lifted.bind(at, fmt::format("read{}", i), kInteger, value);
    ExpressionId kept =
        pool.make(Op::Equal, 1, pool.symbol(symbol, kInteger), pool.constant(value, kInteger));
    if (event.kind == EventKind::Update)
      lifted.assume(at, pool.make(Op::And, 1, kept,
                                  lifted.condition(at) == kNone<ExpressionId> ? pool.truth(true)
                                                                              : lifted.condition(at)));
    else
      pending[raw(event.thread)] = kept;
  }
}

}  // namespace

SymbolicTrace::SymbolicTrace(const Trace& trace)
    : trace_(&trace),
      bound_(trace.size(), kNone<SymbolId>),
      stored_(trace.size(), kNone<ExpressionId>),
      condition_(trace.size(), kNone<ExpressionId>) {}

ExpressionId SymbolicTrace::initial(VariableId variable, uint8_t width) {
  return pool_.constant(trace_->variable(variable).initial, width);
}

SymbolId SymbolicTrace::bind(EventIndex event, std::string name, uint8_t width, uint64_t recorded,
                             bool input) {
  SymbolId id = id_of<SymbolId>(symbols_.size());
  symbols_.push_back({std::move(name), event, width, recorded, input});
  bound_[raw(event)] = id;
  return id;
}

Result<SymbolicTrace> lift_annotations(const Trace& trace) {
  SymbolicTrace lifted(trace);
  if (!has_annotations(trace)) {
    pin_recorded_values(lifted);
    return lifted;
  }
  Scope scope(lifted);
  for (size_t i = 0; i < trace.size(); ++i) {
    const Event& event = trace.events()[i];
    EventIndex at = id_of<EventIndex>(i);
    scope.enter(event.thread);
    const SymbolicInfo* data = trace.symbolic(at);
    if (data != nullptr && !data->bound.empty()) {
      uint64_t value = event.kind == EventKind::Update ? trace.old_value(at) : event.value;
      scope.bind(data->bound, lifted.bind(at, data->bound, kInteger, value, event.kind == EventKind::Input));
    }
    ExpressionId expression = kNone<ExpressionId>;
    if (data != nullptr && !data->expression.empty()) {
      Result<ExpressionId> parsed = parse_expression(data->expression, lifted.pool(), scope);
      if (!parsed.ok()) return Error{fmt::format("event {}", i), parsed.error().message};
      expression = parsed.value();
    }
    if (writes(event.kind)) {
      if (expression == kNone<ExpressionId>) expression = lifted.pool().constant(event.value, kInteger);
      if (lifted.pool()[expression].width == 1) {  // a condition stored as a number
        ExpressionPool& pool = lifted.pool();
        expression =
            pool.make(Op::Ite, kInteger, expression, pool.constant(1, kInteger), pool.constant(0, kInteger));
      }
      lifted.store(at, expression);
    } else if (event.kind == EventKind::Assume) {
      if (expression == kNone<ExpressionId> || lifted.pool()[expression].width != 1) {
        return Error{fmt::format("event {}", i), "assume takes a condition"};
      }
      lifted.assume(at, expression);
    }
  }
  return lifted;
}

}  // namespace cleave
