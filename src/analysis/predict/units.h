// The unit that each event lies in, as the stages need it: a number per event, and the names.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/trace.h"

namespace cleave::prediction {

constexpr uint32_t kNoUnit = UINT32_MAX;

// `of_event[e]` is the number of the (outermost) unit that event e lies in, or kNoUnit. Equal numbers: the same unit.
struct Units {
  std::vector<uint32_t> of_event;
  std::vector<UnitNameId> names;  // by unit number
};

// Every outermost begin … end of the trace is a unit, split where its thread waits on a condition. O(events).
Units annotated_units(const Trace& trace);

}  // namespace cleave::prediction
