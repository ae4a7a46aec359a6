// The judge's conditions against its exact method: what share of the non-atomic triples the conditions
// recognise, and how much faster they are. (AtomChase: 89 % of the real violations, more than 100 times.)
//
//   judge_bench            simulated programs: accounts, flags, counters, with data flow and preemption
//   judge_bench TRACE…     every triple that happened in recorded or text traces
//   judge_bench F.json…    the violations of findings files: each in the trace of its witness's replay, which
//   stands
//                          beside it (bench/predict_suite.py --keep makes both)
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/random.h"
#include "confirm/judged_run.h"
#include "judge/judge.h"
#include "report/json.h"
#include "trace/core/load.h"
#include "units/sets.h"
#include "units/units.h"

namespace {

using namespace cleave;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// One operation of a simulated unit; written values come from what the thread has read.
struct Operation {
  bool writes;
  uint32_t variable;
  uint64_t plus;
  bool constant;
};

std::vector<Operation> random_unit(Random& random, uint32_t variables) {
  const auto a = static_cast<uint32_t>(random.below(variables)),
             b = static_cast<uint32_t>(random.below(variables));
  const uint64_t amount = 1 + random.below(1000);
  auto read = [](uint32_t v) { return Operation{false, v, 0, false}; };
  auto add = [&](uint32_t v) { return Operation{true, v, amount, false}; };
  auto set = [&](uint32_t v, uint64_t value) { return Operation{true, v, value, true}; };
  switch (random.below(7)) {
    case 0:
      return {read(a), add(a)};  // withdraw
    case 1:
      return {read(a), add(a), read(b), add(b)};  // transfer
    case 2:
      return {read(a), read(b), read(a)};  // check, then use
    case 3:
      return {set(a, 1 + amount), set(a, 0)};  // a flag raised and lowered
    case 4:
      return {set(a, amount), read(a)};  // set and read back
    case 5:
      return {read(a), read(b)};  // a consistent view of two
    default:
      return {set(a, 0), set(b, 0)};  // reset two
  }
}

Trace simulate(uint64_t seed, uint32_t threads, uint32_t units, uint32_t variables, uint32_t switch_one_in) {
  Random random(seed);
  TraceBuilder builder;
  std::vector<uint64_t> memory(variables);
  for (uint32_t v = 0; v < variables; ++v) {
    memory[v] = 100 + v;
    builder.write("main", fmt::format("v{}", v), memory[v]);
  }
  std::vector<std::string> names;
  for (uint32_t t = 0; t < threads; ++t) builder.fork("main", names.emplace_back(fmt::format("T{}", t)));
  std::vector<std::vector<Operation>> unit(threads);
  std::vector<size_t> next(threads, 0);
  std::vector<uint32_t> left(threads, units);
  std::vector<uint64_t> last_read(threads, 0);
  uint32_t current = 0, running = threads;
  while (running > 0) {
    if (left[current] == 0 || random.below(switch_one_in) == 0)
      current = static_cast<uint32_t>(random.below(threads));
    if (left[current] == 0) continue;
    const std::string& name = names[current];
    if (next[current] == 0) {
      unit[current] = random_unit(random, variables);
      builder.begin(name, "unit");
    }
    const Operation& operation = unit[current][next[current]++];
    const std::string variable = fmt::format("v{}", operation.variable);
    if (operation.writes) {
      memory[operation.variable] = operation.constant ? operation.plus : last_read[current] + operation.plus;
      builder.write(name, variable, memory[operation.variable]);
    } else {
      last_read[current] = memory[operation.variable];
      builder.read(name, variable, last_read[current]);
    }
    if (next[current] < unit[current].size()) continue;
    builder.end(name);
    next[current] = 0;
    if (--left[current] == 0) --running;
  }
  for (const std::string& name : names) builder.join("main", name);
  return std::move(builder).build();
}

// Consecutive accesses of a unit and every access of another thread between them, as many as `most`.
std::vector<judge::EventTriple> triples_of(const Trace& trace, std::span<const judge::UnitSpan> units,
                                           size_t most) {
  std::vector<judge::EventTriple> triples;
  std::map<uint32_t, std::vector<EventIndex>> accesses;
  for (size_t i = 0; i < trace.size(); ++i) {
    if (is_access(trace.events()[i].kind)) accesses[trace.events()[i].object].push_back(id_of<EventIndex>(i));
  }
  for (const judge::UnitSpan& unit : units) {
    std::map<uint32_t, EventIndex> last;
    for (uint64_t i = raw(unit.first); i <= raw(unit.last) && triples.size() < most; ++i) {
      const Event& event = trace.events()[i];
      if (event.thread != unit.thread || !is_access(event.kind)) continue;
      auto [it, fresh] = last.try_emplace(event.object, EventIndex{i});
      if (fresh) continue;
      const auto& all = accesses[event.object];
      for (auto at = std::upper_bound(all.begin(), all.end(), it->second); *at < EventIndex{i}; ++at) {
        const Event& remote = trace.event(*at);
        if (remote.thread == unit.thread) continue;
        if (judge::pattern_of(trace.event(it->second).kind, remote.kind, event.kind) != Pattern::None) {
          triples.push_back({it->second, *at, EventIndex{i}});
        }
      }
      it->second = EventIndex{i};
    }
  }
  return triples;
}

struct Row {
  size_t triples = 0, non_atomic = 0, by_itself = 0, recognised = 0, atomic = 0, undecided = 0;
};

struct Table {
  std::map<std::string, Row> by_pattern;
  std::map<std::string, size_t> by_proof;
  std::vector<std::string> open;  // non-atomic, and no condition says so
  double condition_seconds = 0, exact_seconds = 0, build_seconds = 0;

  void add(const Trace& trace, size_t most) {
    const std::vector<judge::UnitSpan> units = judge::units_of(trace);
    add(trace, units, triples_of(trace, units, most));
  }

  void add(const Trace& trace, const std::vector<judge::UnitSpan>& units,
           const std::vector<judge::EventTriple>& triples) {
    auto start = Clock::now();
    judge::Judge judge(trace, units, {.budget = 200'000});
    build_seconds += seconds_since(start);
    for (const judge::EventTriple& triple : triples) {
      start = Clock::now();
      const judge::Proof quick = judge.conditions(triple);
      condition_seconds += seconds_since(start);
      start = Clock::now();
      const judge::Proof exact = judge.exact(triple);
      exact_seconds += seconds_since(start);
      if (quick.judgement != judge::Judgement::NonAtomic && exact.judgement == judge::Judgement::NonAtomic) {
        open.push_back(fmt::format("{} {}: {} {} {}", trace.program(), word_of(quick.pattern),
                                   raw(triple.first), raw(triple.remote), raw(triple.second)));
      }
      for (Row* row : {&by_pattern[std::string(word_of(quick.pattern))], &by_pattern["all"]}) {
        const bool recognised = quick.judgement == judge::Judgement::NonAtomic;
        ++row->triples;
        row->recognised += recognised;
        row->by_itself +=
            recognised || (exact.judgement == judge::Judgement::NonAtomic && exact.name == "exact");
        row->non_atomic += recognised || exact.judgement == judge::Judgement::NonAtomic;
        row->atomic += exact.judgement == judge::Judgement::Atomic;
        row->undecided += !recognised && exact.judgement == judge::Judgement::Undecided;
      }
      ++by_proof[quick.judgement == judge::Judgement::NonAtomic ? quick.name : "(no condition)"];
    }
  }

  void print(std::string_view title) const {
    fmt::print("{}\n  {:<8} {:>8} {:>11} {:>10} {:>11} {:>8} {:>8} {:>10}\n", title, "pattern", "triples",
               "non-atomic", "by itself", "recognised", "share", "atomic", "undecided");
    for (const auto& [pattern, row] : by_pattern) {
      const double share =
          row.by_itself == 0 ? 100.0 : 100.0 * double(row.recognised) / double(row.by_itself);
      fmt::print("  {:<8} {:>8} {:>11} {:>10} {:>11} {:>7.1f}% {:>8} {:>10}\n", pattern, row.triples,
                 row.non_atomic, row.by_itself, row.recognised, share, row.atomic, row.undecided);
    }
    fmt::print(" ");
    for (const auto& [name, count] : by_proof) fmt::print(" {} {}", name, count);
    fmt::print("\n  built in {:.3f} s, conditions {:.4f} s, exact {:.3f} s: {:.0f} times\n\n", build_seconds,
               condition_seconds, exact_seconds, exact_seconds / std::max(condition_seconds, 1e-9));
    std::fflush(stdout);
  }
};

// The occurrence of each violation that a condition proves, else the first.
Status add_findings(const std::string& path, Table& table) {
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Result<Findings> findings = report::from_json(text, path);
  if (!findings) return findings.error();
  for (const Finding& finding : findings.value().findings) {
    if (finding.witness.empty() || finding.accesses.size() != 3) continue;
    const auto beside = std::filesystem::path(path).parent_path() / finding.witness;
    Result<Trace> trace = load_trace(std::filesystem::path(beside).replace_extension(".cleave").string());
    if (!trace) continue;  // the replay left the schedule
    SetMap sets({}, trace.value());
    const std::vector<judge::UnitSpan> units =
        confirm::spans_of(trace.value(), map_units(trace.value(), {}, sets));
    auto site = [](const AccessReport& access) {
      return SiteInfo{.file = access.file, .line = access.line, .function = access.function};
    };
    const judge::SiteTriple sites{site(finding.accesses[0]), site(finding.accesses[1]),
                                  site(finding.accesses[2]), "", ""};
    std::vector<judge::EventTriple> triples = judge::find_triples(trace.value(), units, sites, 16);
    if (triples.empty()) continue;
    judge::Judge judge(trace.value(), units, {.budget = 200'000});
    auto best = std::find_if(triples.begin(), triples.end(), [&](const judge::EventTriple& triple) {
      return judge.conditions(triple).judgement == judge::Judgement::NonAtomic;
    });
    table.add(trace.value(), units, {best == triples.end() ? triples.front() : *best});
  }
  return Done{};
}

// The size of the paper's MySQL run: the conditions on thousands of triples of a few million events.
void measure_size() {
  const Trace trace = simulate(1, 30, 30'000, 5000, 200);
  const std::vector<judge::UnitSpan> units = judge::units_of(trace);
  const std::vector<judge::EventTriple> triples = triples_of(trace, units, 5202);
  auto start = Clock::now();
  judge::Judge judge(trace, units);
  const double built = seconds_since(start);
  start = Clock::now();
  size_t proved = 0;
  for (const judge::EventTriple& triple : triples) {
    proved += judge.conditions(triple).judgement == judge::Judgement::NonAtomic;
  }
  fmt::print("{} events, {} triples: built in {:.2f} s, conditions {:.2f} s, {} proved\n\n", trace.size(),
             triples.size(), built, seconds_since(start), proved);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    Table table;
    for (int i = 1; i < argc; ++i) {
      if (std::string_view(argv[i]).ends_with(".json")) {
        if (Status added = add_findings(argv[i], table); !added) {
          fmt::print(stderr, "judge_bench: {}\n", added.error().sentence());
          return 2;
        }
        continue;
      }
      Result<Trace> trace = load_trace(argv[i]);
      if (!trace) {
        fmt::print(stderr, "judge_bench: {}\n", trace.error().sentence());
        return 2;
      }
      table.add(trace.value(), 2000);
    }
    table.print(fmt::format("{} files", argc - 1));
    for (const std::string& line : table.open) fmt::print("  no condition: {}\n", line);
    return 0;
  }
  struct Size {
    uint32_t threads, units, variables, switch_one_in, runs, triples;
  };
  measure_size();
  for (const Size& size : {Size{2, 4, 2, 3, 400, 20}, Size{3, 6, 3, 4, 200, 20}, Size{4, 50, 8, 20, 20, 10},
                           Size{4, 2000, 64, 100, 2, 10}, Size{8, 20000, 1000, 1000, 1, 5}}) {
    Table table;
    size_t events = 0;
    for (uint64_t seed = 0; seed < size.runs; ++seed) {
      const Trace trace = simulate(seed, size.threads, size.units, size.variables, size.switch_one_in);
      events += trace.size();
      table.add(trace, size.triples);
    }
    table.print(
        fmt::format("{} runs of {} threads x {} units on {} locations, a switch every {} accesses, {} events",
                    size.runs, size.threads, size.units, size.variables, size.switch_one_in, events));
  }
}
