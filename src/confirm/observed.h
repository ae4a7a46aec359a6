// Candidates that the given trace itself contains need no plan: check/ judges that trace.
#pragma once

#include <optional>
#include <vector>

#include "confirm/confirm.h"

namespace cleave::confirm {

// By candidate, in the order given: `witnessed` or `confirmed` with the accesses and proof of the trace, or
// nothing where the trace does not contain the triple, or contains it and is atomic. Nothing at all without
// options.order_is_real: of threads that ran freely, accesses that race are recorded in an order that they
// may not have had. `findings` as for prove(). O(trace), if there is anything to judge, plus what judging
// costs.
std::vector<std::optional<Proof>> judge_observed(const prediction::TraceIndex& facts,
                                                 const std::vector<const prediction::Candidate*>& candidates,
                                                 const std::vector<Finding>& findings,
                                                 const ProveOptions& options);

}  // namespace cleave::confirm
