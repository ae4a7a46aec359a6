// Causal units: a stretch of a thread must be atomic because a value read at its beginning decides, or flows
// into, what happens at its end (MoTH's causal dependencies, on a recorded run).
//
// A unit is the span from the first access to the one that depends on it, restricted to the accesses involved
// and named after the innermost function whose call covers both. rules.h has the rules.
#pragma once

#include <cstdint>
#include <vector>

#include "dependence/flow.h"
#include "trace/recorded/reader.h"
#include "units/rules.h"
#include "units/sets.h"
#include "units/units.h"

namespace cleave::units {

struct CausalUnit {
  Unit unit;                            // begin and end are the first and the last of `accesses`
  RuleId rule = RuleId::DecideThenAct;  // of the pair below
  EventIndex first = kNone<EventIndex>, second = kNone<EventIndex>;  // one pair of accesses that shows it
  bool by_data = false;              // the second depends on the first by data, not by control only
  bool revalidated = false;          // the acting section reads the location again and decides by it
  std::vector<EventIndex> accesses;  // all that take part, in order
};

// In order of their first access. Linear in the trace. Empty for a trace without records.
std::vector<CausalUnit> causal_units(const RecordedTrace& recorded, const dependence::ProgramFlow& program,
                                     SetMap& sets, const RuleSwitches& switches = {});

}  // namespace cleave::units
