// Where the switches that a failure needs come: which thread was stopped between which two places of which
// function, and what the others did to its memory meanwhile.
#pragma once

#include <string>
#include <vector>

#include "schedule/schedule.h"
#include "trace/core/trace.h"

namespace cleave::hunt {

struct Place {
  std::string function, file;  // empty: not known
  uint32_t line = 0;
  std::string callee;  // what is called there; empty: the access itself is there
  bool known() const { return line != 0 || !function.empty(); }
  friend bool operator==(const Place&, const Place&) = default;
};

// An access of another thread that conflicts with one of the split call.
struct Interference {
  std::string thread, variable;
  bool write = false;
  Place place;
  friend bool operator==(const Interference&, const Interference&) = default;
};

struct Split {
  Switch at;
  std::string thread, next;  // as reports call them
  std::string function;      // innermost whose call covers both places; empty when there is none
  Place before, after;       // in that function; not known: the thread did nothing before, or never went on
  bool conflicting = false;  // the call has accesses before and after that conflict with `others`
  size_t depth = 0;          // of the call
  std::vector<Interference> others;
};

// The one that shows best what must not be split: of those with conflicts on both sides one that is between
// two different places, in the innermost call, and the last of several. Null where there is none.
const Split* main_split(const std::vector<Split>& splits);

// `trace` and `schedule` are of one controlled run, and `switches` were asked of it. One for each switch that
// the run came to, in that order. O(events + runs).
std::vector<Split> locate_splits(const Trace& trace, const Schedule& schedule,
                                 const std::vector<Switch>& switches);

}  // namespace cleave::hunt
