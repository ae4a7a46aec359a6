#include "feasibility/lift/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "feasibility/lift/walker.h"

namespace cleave {
namespace {

// Variables that one thread writes and another touches.
std::vector<bool> shared_variables(const Trace& trace) {
  struct Use {
    uint32_t thread = UINT32_MAX;
    bool several = false, written = false;
  };
  std::vector<Use> uses(trace.variables().size());
  for (const Event& event : trace.events()) {
    if (!is_access(event.kind)) continue;
    Use& use = uses[event.object];
    if (use.thread == UINT32_MAX) use.thread = raw(event.thread);
    use.several = use.several || use.thread != raw(event.thread);
    use.written = use.written || writes(event.kind);
  }
  std::vector<bool> shared(uses.size());
  for (size_t i = 0; i < uses.size(); ++i) shared[i] = uses[i].several && uses[i].written;
  return shared;
}

// A variable that code outside writes: accesses by events, and before which of them it was written unseen.
struct UnseenWrites {
  std::vector<uint32_t> accesses;
  std::vector<size_t>
      changed;  // numbers into accesses: found another value than was there after the one before
};

// Variables that held, at some read, what no event before it wrote: code that is not instrumented did.
std::vector<bool> written_outside(const Trace& trace, std::map<uint32_t, UnseenWrites>* unseen) {
  std::vector<bool> outside(trace.variables().size());
  std::vector<uint32_t> found;  // reads of what no event wrote
  std::vector<std::optional<uint64_t>> held(trace.variables().size());
  for (uint32_t i = 0; i < trace.size(); ++i) {
    const Event& event = trace.events()[i];
    if (!is_access(event.kind) || event.width() == 0 || event.width() > 8) continue;
    EventIndex at = id_of<EventIndex>(i);
    auto width = static_cast<uint8_t>(event.width() * 8);
    std::optional<uint64_t>& value = held[event.object];
    const VariableInfo& info = trace.variable(event.variable());
    if (!value && info.initial_known) value = info.initial;
    if (reads(event.kind) && value) {
      uint64_t read = event.kind == EventKind::Update ? trace.old_value(at) : event.value;
      if (truncate(*value, width) != truncate(read, width)) {
        outside[event.object] = true;
        found.push_back(i);
        value = event.value;
      }
    }
    if (writes(event.kind) || !value) value = event.value;
  }
  for (uint32_t i = 0, next = 0; i < trace.size() && !found.empty(); ++i) {
    const Event& event = trace.events()[i];
    if (!is_access(event.kind) || !outside[event.object]) continue;
    UnseenWrites& variable = (*unseen)[event.object];
    if (next < found.size() && found[next] == i) {
      ++next;
      if (!variable.accesses.empty()) variable.changed.push_back(variable.accesses.size());
    }
    variable.accesses.push_back(i);
  }
  return outside;
}

// Where a variable of several threads was written unseen, the run keeps its order: what accessed it before
// comes before all that ran there, and what accesses it afterwards comes after. Only threads that access the
// variable are thought to have written it, if one of them ran there.
class UnseenOrder {
 public:
  UnseenOrder(const Trace& trace, const std::vector<std::vector<uint32_t>>& events)
      : trace_(trace), events_(events) {}

  void keep(const UnseenWrites& variable) {
    std::set<uint32_t> threads;
    for (uint32_t access : variable.accesses) threads.insert(thread_of(access));
    if (threads.size() < 2) return;
    for (size_t j : variable.changed) {
      const uint32_t before = variable.accesses[j - 1], after = variable.accesses[j];
      bool any = false;
      for (uint32_t writer : threads) any = keep(variable, j, threads, writer, before, after) || any;
      for (uint32_t writer = 0; writer < events_.size() && !any; ++writer)
        keep(variable, j, threads, writer, before, after);
    }
  }
  std::vector<std::pair<EventIndex, EventIndex>> take() { return std::move(pairs_); }

 private:
  uint32_t thread_of(uint32_t event) const { return raw(trace_.events()[event].thread); }

  // With this thread as the one that wrote between the two accesses: whether it ran there.
  bool keep(const UnseenWrites& variable, size_t j, const std::set<uint32_t>& threads, uint32_t writer,
            uint32_t before, uint32_t after) {
    const std::vector<uint32_t>& mine = events_[writer];
    auto first = std::upper_bound(mine.begin(), mine.end(), before),
         end = std::lower_bound(first, mine.end(), after);
    if (first == end) return false;
    for (uint32_t thread : threads) {
      if (thread == writer) continue;
      for (size_t i = j; i-- > 0;) {
        if (thread_of(variable.accesses[i]) != thread) continue;
        pairs_.emplace_back(id_of<EventIndex>(variable.accesses[i]), id_of<EventIndex>(*first));
        break;
      }
      for (size_t i = j; i < variable.accesses.size(); ++i) {
        if (thread_of(variable.accesses[i]) != thread) continue;
        pairs_.emplace_back(id_of<EventIndex>(*std::prev(end)), id_of<EventIndex>(variable.accesses[i]));
        break;
      }
    }
    return true;
  }

  const Trace& trace_;
  const std::vector<std::vector<uint32_t>>& events_;  // by thread
  std::vector<std::pair<EventIndex, EventIndex>> pairs_;
};

// Shared accesses that no walk came to keep what was recorded: reads are pinned at the thread's next event.
// So do writes of variables that code outside writes too: they are in questions like any others.
void pin_the_rest(WalkContext& context, const std::vector<bool>& written_by_several) {
  const Trace& trace = context.recorded.trace;
  SymbolicTrace& symbolic = context.symbolic;
  ExpressionPool& pool = symbolic.pool();
  for (const std::vector<uint32_t>& mine : context.events) {
    for (size_t i = 0; i < mine.size(); ++i) {
      const Event& event = trace.events()[mine[i]];
      if (!is_access(event.kind) || !(context.shared[event.object] || written_by_several[event.object]))
        continue;
      EventIndex at = id_of<EventIndex>(mine[i]);
      auto width = static_cast<uint8_t>(event.width() == 0 || event.width() > 8 ? 64 : event.width() * 8);
      if (writes(event.kind) && symbolic.stored(at) == kNone<ExpressionId>)
        symbolic.store(at, pool.constant(event.value, width));
      if (!reads(event.kind) || symbolic.bound(at) != kNone<SymbolId> || !context.shared[event.object])
        continue;
      uint64_t value = event.kind == EventKind::Update ? trace.old_value(at) : event.value;
      SymbolId symbol = symbolic.bind(at, fmt::format("r{}", mine[i]), width, value);
      if (i + 1 == mine.size()) continue;
      EventIndex next = id_of<EventIndex>(mine[i + 1]);
      ExpressionId kept = pool.make(Op::Equal, 1, pool.symbol(symbol, width), pool.constant(value, width));
      ExpressionId before = symbolic.condition(next);
      symbolic.assume(next, before == kNone<ExpressionId> ? kept : pool.make(Op::And, 1, before, kept));
    }
  }
}

// Accesses of one leg of a record are executed in one piece under control.
void note_runs(WalkContext& context) {
  const Trace& trace = context.recorded.trace;
  std::vector<EventIndex> run_of(trace.size());
  for (const std::vector<uint32_t>& mine : context.events) {
    for (size_t i = 0; i < mine.size(); ++i) {
      const bool goes_on =
          i > 0 && is_access(trace.events()[mine[i]].kind) && is_access(trace.events()[mine[i - 1]].kind) &&
          context.recorded.origins[mine[i]].record == context.recorded.origins[mine[i - 1]].record &&
          context.legs[mine[i]] == context.legs[mine[i - 1]];
      run_of[mine[i]] = goes_on ? run_of[mine[i - 1]] : id_of<EventIndex>(mine[i]);
    }
  }
  context.symbolic.set_runs(std::move(run_of));
}

void walk_threads(WalkContext& context) {
  const Trace& trace = context.recorded.trace;
  context.events.resize(trace.threads().size());
  context.owner.assign(trace.variables().size(), UINT32_MAX);
  context.settled.assign(trace.variables().size(), true);
  bool alone = true;
  for (uint32_t i = 0; i < trace.size(); ++i) {
    const Event& event = trace.events()[i];
    context.events[raw(event.thread)].push_back(i);
    alone = alone && event.kind != EventKind::Fork;
    if (writes(event.kind) && !alone) context.settled[event.object] = false;
    if (is_access(event.kind) && context.owner[event.object] == UINT32_MAX)
      context.owner[event.object] = raw(event.thread);
  }
  for (size_t v = 0; v < trace.variables().size(); ++v) {
    auto [it, fresh] = context.by_address.emplace(trace.variables()[v].address, id_of<VariableId>(v));
    if (!fresh) it->second = kNone<VariableId>;
  }
  for (size_t t = 0; t < trace.threads().size(); ++t) {
    size_t lane = context.recorded.lane_of_thread[t];
    if (lane == SIZE_MAX) continue;
    ++context.report.threads;
    Walker(context, id_of<ThreadId>(t), lane).run();
  }
}

// The program, and from the other files the modules that the trace has and the program has not.
Result<Program> open_program(const RecordedTrace& recorded, const std::vector<std::string>& files,
                             std::vector<std::string>* remarks) {
  if (files.empty()) return Error{"", "the trace does not say which program it is of"};
  Result<Program> opened = Program::open(files[0]);
  if (!opened.ok()) return opened.error();
  Program program = std::move(opened).value();
  auto missing = [&](const Module& module) { return program.find(module.identity) == nullptr; };
  const auto& modules = recorded.file->modules().all();
  for (size_t f = 1; f < files.size() && std::any_of(modules.begin(), modules.end(), missing); ++f) {
    Result<Program> library = Program::open(files[f]);
    if (!library.ok()) continue;  // not built with Cleave
    for (ProgramModule& module : library.value().modules) {
      if (program.find(module.identity) == nullptr) program.modules.push_back(std::move(module));
    }
  }
  for (const Module& module : modules) {
    if (missing(module))
      remarks->push_back("no bitcode of " + module.name +
                         " was found: what its code did keeps its recorded values");
  }
  return program;
}

}  // namespace

Result<SymbolicTrace> walk_recorded_paths(const RecordedTrace& recorded,
                                          const std::vector<std::string>& files, WalkReport* report) {
  if (recorded.origins.size() != recorded.trace.size())
    return Error{"", "the trace was not recorded from a program"};
  std::vector<std::string> without_bitcode;
  Result<Program> opened = open_program(recorded, files, &without_bitcode);
  if (!opened.ok()) return opened.error();
  Bitcode bitcode(std::move(opened).value());
  std::map<uint32_t, UnseenWrites> unseen;
  std::vector<bool> shared = shared_variables(recorded.trace),
                    outside = written_outside(recorded.trace, &unseen);
  const std::vector<bool> by_several = shared;
  for (size_t v = 0; v < shared.size(); ++v) shared[v] = shared[v] && !outside[v];
  // What a store may move over has to be looked at as shared memory, and that is known only after the walk:
  // again then.
  constexpr int kMostWalks = 4;
  for (int walk = 1;; ++walk) {
    *report = {};
    report->remarks = without_bitcode;
    SymbolicTrace symbolic(recorded.trace);
    symbolic.set_written_outside(outside);
    WalkContext context{.recorded = recorded,
                        .bitcode = bitcode,
                        .symbolic = symbolic,
                        .report = *report,
                        .shared = shared,
                        .events = {},
                        .legs = std::vector<uint32_t>(recorded.trace.size()),
                        .not_modelled = {},
                        .by_address = {},
                        .stores_move = walk < kMostWalks,
                        .moved_over = {}};
    walk_threads(context);
    bool grown = false;
    for (uint32_t variable : context.moved_over) {
      grown = grown || !shared[variable];
      shared[variable] = true;
    }
    if (grown) continue;
    pin_the_rest(context, by_several);
    note_runs(context);
    UnseenOrder order(recorded.trace, context.events);
    for (const auto& [number, variable] : unseen) order.keep(variable);
    symbolic.set_kept_order(order.take());
    for (const std::string& what : context.not_modelled) report->remarks.push_back("not modelled: " + what);
    return symbolic;
  }
}

}  // namespace cleave
