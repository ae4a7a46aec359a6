// `cleave check`: is what ran atomic-set serializable, and if not, which cycles of units say so (Marathon).
//
// Complete and sound for the given trace, units and sets: a cycle is found at the very event that closes it,
// and nothing else is reported. Streaming: memory is that of the variables and of the live part of the graph
// (graph.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "findings/finding.h"
#include "trace/core/stream.h"
#include "units/sets.h"
#include "units/units.h"

namespace cleave::conflict {

struct CheckOptions {
  UnitOptions units;
  SetOptions sets;
  bool stop_at_first = false;                      // the rest of the trace is not looked at
  std::function<bool(const Finding&)> known;       // findings at which that does not stop; none if empty
  std::function<void(const Finding&)> on_finding;  // each unique cycle, when it is first seen
};

struct CheckReport {
  std::vector<Finding> findings;              // shortest first
  std::map<size_t, uint64_t> cycles_by_size;  // unique cycles, as in Table 1
  uint64_t counted_only =
      0;                     // how many more there are, or may be, that are not among the findings (cycles.h)
  uint64_t cycles_seen = 0;  // edges that closed a cycle
  std::optional<EventIndex> first_violation;  // the event that closed the first cycle
  uint64_t events = 0;
  uint64_t units = 0;                       // nodes: units of work, of each of their sets
  uint64_t edges = 0;                       // between live units
  size_t most_live = 0;                     // |CG| of Table 1
  size_t deepest = 0;                       // nesting of units
  bool complete = true;                     // false: the trace ends in the middle
  std::string unit_sources;                 // what was used, as one would say to --units
  std::vector<UnmatchedPattern> unmatched;  // patterns about variables and sets that fitted none
};

// For a trace that comes in pieces.
class Checker {
 public:
  // `tables` must outlive the checker and may grow.
  Checker(const Trace& tables, CheckOptions options);
  ~Checker();

  // `splits` took place among the events, `freed` ended by the last of them. False: stop_at_first has what it
  // wanted.
  bool feed(std::span<const Event> events, std::span<const VariableSplit> splits = {},
            const FreedIds& freed = {});
  CheckReport report() const;
  // How many entries are held besides the live graph: names that it may have to tell, sets, objects, what
  // open units have touched. For those who count memory.
  size_t held() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The same for a loaded trace whose units are known. `sets` is the one that the units were found with.
CheckReport check_units(const Trace& trace, const UnitMap& units, SetMap& sets, const CheckOptions& options);

// Reads the source to its end.
Result<CheckReport> check(EventSource& source, const CheckOptions& options);

// The cycles as one picture, one cluster a cycle.
std::string to_dot(std::span<const Finding> cycles);

}  // namespace cleave::conflict
