// The independent judge. Given the trace of a real execution it says whether a triple is there (`witnessed`)
// and whether that execution is non-atomic (`confirmed`). It shares no code with the engines that predict.
//
// Atomic means: some serial order of the units explains the trace, that is, every read returns what it
// returned and (with final_writes) every location ends with the value it ended with. Units of one thread keep
// their order, a thread's units come after the unit that forks it and before the one that joins it; nothing
// else binds the order. Events outside units are units of their own. docs/verdicts.md has the whole
// definition.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "findings/finding.h"
#include "trace/core/trace.h"

namespace cleave::judge {

// The events of `thread` from first to last. Spans of one thread are disjoint or nested.
struct UnitSpan {
  ThreadId thread;
  EventIndex first, last;
  UnitNameId name = kNone<UnitNameId>;
  friend bool operator==(const UnitSpan&, const UnitSpan&) = default;
};

// Every begin…end of the trace, split where the thread waits on a condition, in order of their first event; a
// unit that does not end lasts to its thread's last event. NotAtomic units are left out. O(events).
std::vector<UnitSpan> units_of(const Trace& trace);

// first and second are accesses of one unit, remote is another thread's; all to one location.
struct EventTriple {
  EventIndex first, remote, second;
  friend bool operator==(const EventTriple&, const EventTriple&) = default;
};

// The unserializable pattern that the three kinds of access form, or None. An update is both a read and a
// write; of several patterns the one that is proved most easily is named (RWR WWR RWW WRW WWW).
Pattern pattern_of(EventKind first, EventKind remote, EventKind second);

// Three program locations, as a finding names them. Empty thread names match any thread.
struct SiteTriple {
  SiteInfo first, remote, second;
  std::string unit_thread, remote_thread;
};

// The places in the trace where these sites form a triple in execution order, within one unit, on one
// location: the first `most` of them, none if the execution does not contain it. This alone makes a finding
// `witnessed`. O(events).
std::vector<EventTriple> find_triples(const Trace& trace, std::span<const UnitSpan> units,
                                      const SiteTriple& sites, size_t most);
// The first of them.
std::optional<EventTriple> find_triple(const Trace& trace, std::span<const UnitSpan> units,
                                       const SiteTriple& sites);

struct JudgeOptions {
  bool final_writes = true;     // false: --no-final, the paper's weaker notion
  uint64_t budget = 2'000'000;  // states of the exact search, for each triple
};

enum class Judgement : uint8_t {
  NonAtomic,  // proved: no serial order explains the trace
  Atomic,     // a serial order explains everything around the triple's unit: not a violation after all
  Undecided,  // the budget ran out, or the trace cannot be judged: see `reason`
};

struct Proof {
  Judgement judgement = Judgement::Undecided;
  Pattern pattern = Pattern::None;
  std::string name;    // C_RWR, C_WWR, C_WRW, C_RWW, C_count, C_pair, exact, exact-trace; empty if undecided
  std::string why;     // one sentence for a person: why no serial order explains it
  std::string reason;  // undecided: what stood in the way
  std::vector<UnitSpan> serial_order;  // Atomic: the units around the triple, in an order that explains them
  uint64_t states = 0;                 // that the exact search looked at
};

// Judges many triples of one trace. Built in O(events); a condition costs what there is of the values in
// question, the exact search at most its budget. The trace must outlive the judge. Not thread-safe.
class Judge {
 public:
  Judge(const Trace& trace, std::vector<UnitSpan> units, const JudgeOptions& options = {});
  ~Judge();
  Judge(Judge&&) noexcept;
  Judge& operator=(Judge&&) noexcept;

  // The conditions, then the exact search. The triple must be in the trace in the order first, remote,
  // second.
  Proof judge(const EventTriple& triple);
  // One of the two alone, for tests and measurements.
  Proof conditions(const EventTriple& triple);
  Proof exact(const EventTriple& triple);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Replays the trace on a plain model of memory, locks, conditions, semaphores, barriers and thread life:
// reads return the last write, locks exclude, and so on. Done, or the first event that could not have
// happened like that. O(events).
Status consistent(const Trace& trace);

}  // namespace cleave::judge
