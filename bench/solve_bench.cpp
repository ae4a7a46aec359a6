// Time of the symbolic stage on the bank programs of CTP's Table 1, all candidates, beside the paper's
// seconds.
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/random.h"
#include "feasibility/solve/feasibility.h"
#include "solve/bank.h"

namespace cleave {
namespace {

struct Row {
  size_t feasible = 0, infeasible = 0, unknown = 0;
  double seconds = 0;
};

Row decide_all(FeasibilityChecker& checker, const Bank& bank) {
  auto begin = std::chrono::steady_clock::now();
  Row row;
  for (const auto& [f, r, s, p] : bank.candidates) {
    Feasibility got = checker.decide({f, r, s, p});
    ++(got.answer == Answer::Feasible     ? row.feasible
       : got.answer == Answer::Infeasible ? row.infeasible
                                          : row.unknown);
  }
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return row;
}

// With lifting and indexing.
Row run(const Bank& bank) {
  auto begin = std::chrono::steady_clock::now();
  Result<SymbolicTrace> lifted = lift_annotations(bank.trace);
  FeasibilityChecker checker(lifted.value(), {});
  Row row = decide_all(checker, bank);
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return row;
}

// A long run: eight threads count in twenty counters, each step in a critical section of its own, and go on
// only while what they see is not negative. Ten candidates, evenly over the run: a unit's read and write, and
// another's write.
Bank make_long_run(size_t events) {
  constexpr int kThreads = 8, kCounters = 20;
  TraceBuilder b;
  Random random(events);
  Bank bank;
  struct Unit {
    EventIndex read, write;
    int counter, thread;
  };
  std::vector<Unit> units;
  std::vector<uint64_t> counters(kCounters, 0);
  uint64_t names = 0;
  for (int t = 0; t < kThreads; ++t) b.fork("main", "T" + std::to_string(t));
  std::vector<Unit> open(kThreads, Unit{kNone<EventIndex>, kNone<EventIndex>, 0, 0});
  std::vector<std::string> seen(kThreads);
  while (b.size() < events) {
    int t = static_cast<int>(random.below(kThreads));
    std::string thread = "T" + std::to_string(t);
    Unit& unit = open[t];
    const bool starts = unit.read == kNone<EventIndex>;
    if (starts) unit.counter = static_cast<int>(random.below(kCounters)), unit.thread = t;
    std::string counter = "c" + std::to_string(unit.counter), lock = "L" + std::to_string(unit.counter);
    b.acquire(thread, lock);
    if (starts) {
      unit.read = b.read(thread, counter, counters[unit.counter]);
      seen[t] = "r" + std::to_string(names++);
      b.annotate(unit.read, {seen[t], ""});
      b.release(thread, lock);
      b.annotate(b.add({.kind = EventKind::Assume, .thread = b.thread(thread)}),
                 {"", "(>= " + seen[t] + " 0)"});
    } else {
      uint64_t before = counters[unit.counter];
      counters[unit.counter] = before + 1;
      unit.write = b.write(thread, counter, counters[unit.counter]);
      b.annotate(unit.write, {"", "(+ " + seen[t] + " " + std::to_string(1 + t) + ")"});
      b.release(thread, lock);
      units.push_back(unit);
      unit = {kNone<EventIndex>, kNone<EventIndex>, 0, 0};
    }
  }
  for (int t = 0; t < kThreads; ++t) b.join("main", "T" + std::to_string(t));
  bank.trace = std::move(b).build();
  for (size_t n = 0; n < 10; ++n) {
    size_t i = units.size() * n / 10;
    for (size_t j = i + 1; j < units.size(); ++j) {
      if (units[j].thread == units[i].thread || units[j].counter != units[i].counter) continue;
      bank.candidates.emplace_back(units[i].read, units[j].write, units[i].write, Pattern::RWW);
      break;
    }
  }
  return bank;
}

}  // namespace
}  // namespace cleave

int main() {
  using namespace cleave;
  struct Shape {
    const char* name;
    BankKind kind;
    int largest;
  };
  fmt::print("{:<14} {:>4} {:>9} {:>10} {:>8} {:>9}\n", "program", "k", "feasible", "infeasible", "unknown",
             "seconds");
  for (const Shape& shape :
       {Shape{"bank-av", BankKind::Split, 64}, Shape{"bank-sav", BankKind::Partial, 64},
        Shape{"bank-nav", BankKind::Transaction, 64}, Shape{"bank-ticket", BankKind::Counter, 8}}) {
    for (int k = 2; k <= shape.largest; k *= 2) {
      Row row = run(make_bank(k, shape.kind));
      fmt::print("{:<14} {:>4} {:>9} {:>10} {:>8} {:>9.2f}\n", shape.name, k, row.feasible, row.infeasible,
                 row.unknown, row.seconds);
      std::fflush(stdout);
    }
  }
  fmt::print("\n{:<14} {:>9} {:>9} {:>10} {:>8} {:>16}\n", "long run", "events", "feasible", "infeasible",
             "unknown", "ms a candidate");
  for (size_t events : {1'000u, 10'000u, 100'000u, 1'000'000u}) {
    Bank bank = make_long_run(events);
    Result<SymbolicTrace> lifted = lift_annotations(bank.trace);
    FeasibilityChecker checker(lifted.value(), {});
    Row row = decide_all(checker, bank);
    fmt::print("{:<14} {:>9} {:>9} {:>10} {:>8} {:>16.2f}\n", "", bank.trace.size(), row.feasible,
               row.infeasible, row.unknown,
               row.seconds * 1000 / static_cast<double>(std::max<size_t>(bank.candidates.size(), 1)));
  }
}
