// The interleaving of a finding as one list, whatever its kind: who does what, and where in the unit's own
// function that is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "findings/finding.h"

namespace cleave::report {

// A place in the source. `line` is 0 where it is not known.
struct SourcePlace {
  std::string function, file;
  uint32_t line = 0;
};

// A frame of a stack as findings have it, "function file:line". Function and file may have blanks in them.
SourcePlace place_of_frame(std::string_view frame);

struct Step {
  const AccessReport* access = nullptr;
  std::string variable;  // what it accesses
  bool of_unit = false;  // by the unit that the finding is about
  SourcePlace own;       // the line of the unit's own function that led to the access, or the access itself
  std::string callee;    // what that line calls on the way to the access; empty: it does the access itself
};

// Triples: first, remote, second. Cycles: along the conflicts, from the split unit's earlier access to its
// later one; an access that ends one conflict and begins the next is one step. Empty where nothing ran.
std::vector<Step> steps_of(const Finding& finding);

// The threads of the steps, in the order in which they come.
std::vector<std::string> threads_of(const std::vector<Step>& steps);

}  // namespace cleave::report
