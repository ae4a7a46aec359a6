#include "symbolic/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "symbolic/walker.h"

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

// Variables that held, at some read, what no event before it wrote: code that is not instrumented did.
std::vector<bool> written_outside(const Trace& trace) {
  std::vector<bool> outside(trace.variables().size());
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
      if (truncate(*value, width) != truncate(read, width)) outside[event.object] = true;
    }
    if (writes(event.kind) || !value) value = event.value;
  }
  return outside;
}

// Shared accesses that no walk came to keep what was recorded: reads are pinned at the thread's next event.
void pin_the_rest(WalkContext& context) {
  const Trace& trace = context.recorded.trace;
  SymbolicTrace& symbolic = context.symbolic;
  ExpressionPool& pool = symbolic.pool();
  for (const std::vector<uint32_t>& mine : context.events) {
    for (size_t i = 0; i < mine.size(); ++i) {
      const Event& event = trace.events()[mine[i]];
      if (!is_access(event.kind) || !context.shared[event.object]) continue;
      EventIndex at = id_of<EventIndex>(mine[i]);
      auto width = static_cast<uint8_t>(event.width() == 0 || event.width() > 8 ? 64 : event.width() * 8);
      if (writes(event.kind) && symbolic.stored(at) == kNone<ExpressionId>) symbolic.store(at, pool.constant(event.value, width));
      if (!reads(event.kind) || symbolic.bound(at) != kNone<SymbolId>) continue;
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
      const bool goes_on = i > 0 && is_access(trace.events()[mine[i]].kind) && is_access(trace.events()[mine[i - 1]].kind) &&
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
  for (uint32_t i = 0; i < trace.size(); ++i) context.events[raw(trace.events()[i].thread)].push_back(i);
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
Result<Program> open_program(const RecordedTrace& recorded, const std::vector<std::string>& files, std::vector<std::string>* remarks) {
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
    if (missing(module)) remarks->push_back("no bitcode of " + module.name + " was found: what its code did keeps its recorded values");
  }
  return program;
}

}  // namespace

Result<SymbolicTrace> walk_recorded_paths(const RecordedTrace& recorded, const std::vector<std::string>& files, WalkReport* report) {
  if (recorded.origins.size() != recorded.trace.size()) return Error{"", "the trace was not recorded from a program"};
  std::vector<std::string> without_bitcode;
  Result<Program> opened = open_program(recorded, files, &without_bitcode);
  if (!opened.ok()) return opened.error();
  Bitcode bitcode(std::move(opened).value());
  std::vector<bool> shared = shared_variables(recorded.trace), outside = written_outside(recorded.trace);
  for (size_t v = 0; v < shared.size(); ++v) shared[v] = shared[v] && !outside[v];
  // What a store may move over has to be looked at as shared memory, and that is known only after the walk: again then.
  constexpr int kMostWalks = 4;
  for (int walk = 1;; ++walk) {
    *report = {};
    report->remarks = without_bitcode;
    SymbolicTrace symbolic(recorded.trace);
    symbolic.set_written_outside(outside);
    WalkContext context{.recorded = recorded, .bitcode = bitcode, .symbolic = symbolic, .report = *report, .shared = shared,
                        .events = {}, .legs = std::vector<uint32_t>(recorded.trace.size()), .not_modelled = {}, .by_address = {}, .stores_move = walk < kMostWalks, .moved_over = {}};
    walk_threads(context);
    bool grown = false;
    for (uint32_t variable : context.moved_over) {
      grown = grown || !shared[variable];
      shared[variable] = true;
    }
    if (grown) continue;
    pin_the_rest(context);
    note_runs(context);
    for (const std::string& what : context.not_modelled) report->remarks.push_back("not modelled: " + what);
    return symbolic;
  }
}

}  // namespace cleave
