// The plans with which the program is run for one candidate.
#pragma once

#include <string>
#include <vector>

#include "analysis/predict/predict.h"
#include "schedule/plan.h"

namespace cleave::prove {

struct CandidatePlan {
  Plan plan;
  bool whole_order = false;  // has all that the solver's model says of the order
};

// At most `most` plans, the most promising first:
//   - the three accesses in the predicted order, each with what its thread does next, held where locks are taken;
//   - the solver's whole order: every switch between threads that the model has, up to the second access;
//   - the three accesses and the locks of their two threads, as the solver or the reordering has them;
//   - the three accesses alone; then other event triples of the same program locations.
// What could not be made into a plan is said in `problem`. O(events of the trace) a plan.
std::vector<CandidatePlan> plans_for(const prediction::Facts& facts, const prediction::Candidate& candidate, size_t most,
                                     std::string* problem);

}  // namespace cleave::prove
