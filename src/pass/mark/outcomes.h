// How many branch outcomes can be waiting for a record at each branch. A record takes them all; a header
// holds fourteen, the fifteenth must go to the runtime at once. Where fewer than fifteen can be waiting, in a
// loop whose body makes a record for instance, the inline code does not even ask.
#pragma once

#include "pass/record/plan.h"

namespace cleave {

// Sets Action::may_fill. Linear in the plan, times at most fifteen.
void bound_outcomes(FunctionPlan& plan);

}  // namespace cleave
