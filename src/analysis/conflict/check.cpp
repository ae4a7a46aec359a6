#include "analysis/conflict/check.h"

#include <fmt/format.h>

#include "analysis/conflict/engine.h"

namespace cleave::conflict {
namespace {

std::string describe_sources(const UnitOptions& units) {
  std::string text;
  auto add = [&](const std::string& word) { text += (text.empty() ? "" : ",") + word; };
  if (units.annotated) add("annotated");
  if (units.causal) add("causal");
  if (units.methods) add("methods");
  if (units.locks) add("locks");
  for (const std::string& glob : units.functions) add("functions:" + glob);
  return text;
}

CheckReport report_of(const Engine& engine, const CheckOptions& options, const SetMap& sets) {
  CheckReport report;
  report.findings = engine.log().findings();
  report.cycles_by_size = engine.log().sizes();
  report.counted_only = engine.log().counted_only();
  report.cycles_seen = engine.log().seen();
  report.first_violation = engine.first_violation();
  report.units = engine.units();
  report.edges = engine.graph().edges_stored();
  report.most_live = engine.graph().most_live();
  report.deepest = engine.deepest();
  report.unit_sources = describe_sources(options.units);
  report.unmatched = unmatched_patterns(options.units, sets);
  return report;
}

}  // namespace

struct Checker::State {
  State(const Trace& tables, CheckOptions given)
      : tables(tables), options(std::move(given)), sets(options.sets, tables) {}

  // Which sources of units are used may depend on names that the first events bring.
  void start() {
    options.units = options.units.resolved(tables);
    engine = options.sets.one ? make_one_set(sets, tables, options) : make_atomic_sets(sets, tables, options);
  }

  const Trace& tables;
  CheckOptions options;
  SetMap sets;
  std::unique_ptr<Engine> engine;
  uint64_t events = 0;
};

Checker::Checker(const Trace& tables, CheckOptions options)
    : state_(std::make_unique<State>(tables, std::move(options))) {}

Checker::~Checker() = default;

bool Checker::feed(std::span<const Event> events, std::span<const VariableSplit> splits,
                   const FreedIds& freed) {
  if (!state_->engine) state_->start();
  state_->sets.refresh();
  bool more = true;
  size_t fed = 0;
  auto feed_up_to = [&](size_t end) {
    if (more && end > fed) more = state_->engine->feed(events.subspan(fed, end - fed), state_->events + fed);
    fed = end;
  };
  for (const VariableSplit& split : splits) {
    feed_up_to(split.before);
    state_->engine->split(split);
  }
  feed_up_to(events.size());
  state_->events += events.size();
  if (more) state_->engine->forget(freed);
  return more;
}

size_t Checker::held() const { return state_->engine ? state_->engine->held() : 0; }

CheckReport Checker::report() const {
  CheckReport report;
  if (state_->engine) report = report_of(*state_->engine, state_->options, state_->sets);
  report.events = state_->events;
  return report;
}

CheckReport check_units(const Trace& trace, const UnitMap& units, SetMap& sets, const CheckOptions& options) {
  std::unique_ptr<Engine> engine = make_given_units(sets, trace, options, units);
  engine->feed(trace.events(), 0);
  CheckReport report = report_of(*engine, options, sets);
  report.events = trace.size();
  return report;
}

Result<CheckReport> check(EventSource& source, const CheckOptions& options) {
  Checker checker(source.tables(), options);
  for (;;) {
    Result<std::span<const Event>> batch = source.next();
    if (!batch) return batch.error();
    if (batch.value().empty() || !checker.feed(batch.value(), source.splits(), source.freed())) break;
  }
  CheckReport report = checker.report();
  report.complete = source.complete();
  return report;
}

std::string to_dot(std::span<const Finding> cycles) {
  std::string dot =
      "digraph conflicts {\n  node [shape=box, fontname=\"sans-serif\"];\n  edge "
      "[fontname=\"sans-serif\"];\n";
  auto quoted = [](std::string_view text) {
    std::string out;
    for (char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    return out;
  };
  for (size_t c = 0; c < cycles.size(); ++c) {
    const Finding& cycle = cycles[c];
    dot += fmt::format("  subgraph cluster_{} {{\n    label=\"{} on {}, seen {}×\";\n", c, quoted(cycle.id),
                       quoted(cycle.set), cycle.occurrences);
    for (size_t u = 0; u < cycle.units.size(); ++u) {
      dot += fmt::format("    c{}u{} [label=\"{}\\n{}\"];\n", c, u, quoted(cycle.units[u].name),
                         quoted(cycle.units[u].thread));
    }
    for (const EdgeReport& edge : cycle.edges) {
      dot += fmt::format("    c{0}u{1} -> c{0}u{2} [label=\"{3} {4}\"];\n", c, edge.from, edge.to,
                         edge.conflict, quoted(edge.variable));
    }
    dot += "  }\n";
  }
  return dot + "}\n";
}

}  // namespace cleave::conflict
