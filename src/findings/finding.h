// What a person is told. One finding per triple of program locations, per cycle of units on a set, per static
// rule and place, or per way in which the program failed when it was run. report/ prints it, `--json` writes
// it; field by field as in docs/contract.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cleave {

enum class Verdict : uint8_t {
  Infeasible,
  Candidate,
  Feasible,
  Witnessed,
  Confirmed
};  // ordered: `--fail-on`
enum class FindingKind : uint8_t { Triple, Cycle, HighLevelRace, StaleValue, Failure };
enum class Pattern : uint8_t { None, RWR, RWW, WWR, WRW, WWW };
enum class Role : uint8_t { First, Remote, Second, From, To, Step };
enum class FailureEnd : uint8_t { Exit, Signal, Deadlock, Livelock, TimeLimit };

std::string_view word_of(Verdict verdict);
std::string_view word_of(FindingKind kind);
std::string_view word_of(Pattern pattern);
std::string_view word_of(Role role);
std::string_view word_of(FailureEnd end);
bool parse(std::string_view word, Verdict* verdict);

struct AccessReport {
  Role role = Role::First;
  std::string thread;
  std::string op;     // read, write, update
  std::string value;  // what was in memory, as a whole number without a sign; of an update "OLD -> NEW"
  std::string type;   // of the access: int, double …; empty where it is not known
  std::string function, file;
  uint32_t line = 0;
  std::vector<std::string> stack;  // innermost first, "function file:line"
  std::vector<std::string> locks;  // held at the access
  std::string variable;            // cycles: the accesses of an edge may differ from the finding's variable
};

// An edge of a cycle: unit `from` came before unit `to`, by this conflict.
struct EdgeReport {
  uint32_t from = 0, to = 0;  // indexes into Finding::units
  std::string variable;
  std::string conflict;  // WR, RW, WW; also "order" (--sets one: program order, locks, fork, join)
  AccessReport first, second;
};

struct UnitReport {
  std::string name, thread;
};

// Why a unit must be atomic, where its accesses show it: the rule and two accesses of the unit.
struct CauseReport {
  std::string rule;  // decide-then-act, read-read …; empty: the unit is one by itself
  bool by_data = false;
  AccessReport first, second;
};

// Runs of the program that failed in one way.
struct FailureReport {
  FailureEnd end = FailureEnd::Exit;
  int number = 0;                 // exit status or signal
  uint64_t failed = 0, runs = 0;  // how many runs failed so, of how many
  std::vector<uint64_t> seeds;    // of these runs, where the same seed is the same run
  std::string first;              // what the first of them is called: "run 3 (--seed 2)"
  std::string text;               // of the first: who holds and waits for what
  friend bool operator==(const FailureReport&, const FailureReport&) = default;
};

struct Finding {
  std::string id;
  FindingKind kind = FindingKind::Triple;
  Pattern pattern = Pattern::None;
  Verdict verdict = Verdict::Candidate;
  std::string variable, unit, set;
  std::vector<AccessReport> accesses;         // triples: first, remote, second, in execution order
  std::map<std::string, std::string> stages;  // stage name → kept, dropped, sat, unsat, unknown …
  std::string proof, witness;
  CauseReport cause;
  std::string why;   // one sentence: why no serial order explains it
  std::string note;  // budget ran out, program diverged, benign …
  // What to say to Cleave if the program is right as it is: a sentence, then lines to add, each after a line
  // break.
  std::vector<std::string> hints;
  uint64_t occurrences = 1;
  std::vector<UnitReport> units;  // cycles
  std::vector<EdgeReport> edges;  // cycles: edge i leaves unit i
  uint32_t split = UINT32_MAX;    // cycles: index of the unit that was split; UINT32_MAX: not said
  std::vector<std::vector<std::string>> views;  // high-level races
  std::vector<AccessReport> path;  // stale values: how the value travels, from the first access to the second
  uint32_t rank = 0;               // static findings: 1 is the most likely; 0: not ranked
  std::optional<FailureReport> failure;  // failures
};

// What a stage did. The extra numbers go into the JSON beside triples and sites.
struct StageReport {
  std::string name;
  uint64_t triples = 0, sites = 0;
  double seconds = 0;
  std::map<std::string, uint64_t> counts;
};

struct Findings {
  std::string command, program, trace;
  std::vector<StageReport> stages;
  std::vector<Finding> findings;
  std::map<std::string, std::string>
      facts;  // what was not instrumented, not modelled; sizes; definition used
  // Work that was left undone, a sentence each: undecided candidates, a trace that ends early, an interrupt.
  std::vector<std::string> unfinished;
};

// "CLV-" and eight hex digits, from what survives an edit of the source: never lines, addresses or order.
// `words`: functions and units, in the order that the finding has them.
std::string finding_id(FindingKind kind, Pattern pattern, std::string_view variable,
                       const std::vector<std::string>& words);

// The finding of a failure; `program` is the name of the program without its folder. What differs from run to
// run is not in its id.
Finding failure_finding(std::string_view program, FailureReport failure, std::string witness);

// Whether two findings, of one run or of several, are the same one: cycles of the same units on the same set,
// others with all accesses at the same lines of the same functions.
bool same_finding(const Finding& a, const Finding& b);

// Gives each finding an id of its own. Of different ones that share an id, the first in the source keeps it;
// the others get one made of it and their rank in the source. The order in which they are given does not
// matter. Those that are the same_finding go on sharing theirs.
void separate_ids(std::vector<Finding>& findings);

}  // namespace cleave
