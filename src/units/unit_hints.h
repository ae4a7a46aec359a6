// Which functions might be meant as units, and are not: for a person who was told that nothing was found.
//
// A function is named when one call of it goes through several units that touch the same shared variable, at
// least one of them writing: atomic piece by piece, and not as a whole. Of nested calls only the innermost
// such function is named. This is a question to the programmer, never a finding.
#pragma once

#include <string>
#include <vector>

#include "units/units.h"

namespace cleave {

struct UnitHint {
  std::string function;
  std::string variable;
  uint32_t units = 0;  // most units that one call went through
  uint64_t calls = 0;  // how many calls did
  friend bool operator==(const UnitHint&, const UnitHint&) = default;
};

// One a function, most calls first, then by name. Time O(events × depth of calls), memory O(variables).
std::vector<UnitHint> unit_hints(const Trace& trace, const UnitMap& units);

}  // namespace cleave
