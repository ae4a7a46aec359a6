// From what the rules have found to findings for people: one for each mistake, ranked.
#pragma once

#include <vector>

#include "analysis/static/model.h"
#include "analysis/static/races.h"
#include "analysis/static/stale_values.h"

namespace cleave::static_analysis {

// One finding for each kind and pair of sections (by the functions that they are in), the most likely first.
std::vector<Finding> describe(const Model& model, const std::vector<HighLevelRace>& races,
                              const std::vector<StaleValue>& stale_values);

}  // namespace cleave::static_analysis
