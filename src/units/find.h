// The units of a loaded trace from all sources, for every engine that has the trace in memory: the same trace
// gives the same units to each.
#pragma once

#include <memory>

#include "dependence/flow.h"
#include "trace/recorded/reader.h"
#include "units/causal.h"
#include "units/units.h"

namespace cleave::units {

struct UnitSources {
  UnitOptions options;
  RuleSwitches switches;
  std::shared_ptr<const dependence::ProgramFlow> flow;  // for `causal`; null: there is none to be had
};

// Units that the options name. Causal ones take their accesses from critical sections, which are there to
// bind the accesses of others together and nothing else (Unit::context_only).
UnitMap find_units(const RecordedTrace& recorded, const UnitSources& sources, SetMap& sets);

}  // namespace cleave::units
