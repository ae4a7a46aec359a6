// Where a run left the solver's model: the first event of the model's order at which its thread did something
// else, or which saw another write than in the model.
#pragma once

#include <span>
#include <string>

#include "analysis/predict/predict.h"
#include "trace/core/trace.h"

namespace cleave::confirm {

// `order` are events of `recorded`, as the model has them, for each thread from its beginning. One sentence;
// empty when the run did all that the model says. O(both traces).
std::string first_difference(const Trace& recorded, std::span<const prediction::EventNumber> order,
                             const Trace& run);

}  // namespace cleave::confirm
