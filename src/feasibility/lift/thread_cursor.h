// A value while walking: one lane per scalar in it. Concrete always when known; an expression that may
// mention symbols.
#pragma once

#include <cstdint>
#include <vector>

#include "feasibility/lift/expression.h"

namespace cleave {

struct ThreadCursor {
  ExpressionId expression = kNone<ExpressionId>;  // kNone: nothing is known of it
  uint64_t concrete = 0;                          // its value in the recorded run
  uint8_t width = 0;                              // bits, 1 to 64
  bool invented = false;                          // depends on an address that the walk made up (see Walker)
  bool lost = false;     // depends on symbols that were pinned: not expressed any more
  uint32_t element = 0;  // address of an array element: which one, see Walker::elements_

  bool known() const { return expression != kNone<ExpressionId>; }
};

using Lanes = std::vector<ThreadCursor>;

}  // namespace cleave
