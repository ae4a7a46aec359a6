// Cycles that say the same to a person: they split the same unit on the same set. One mistake in a unit gives
// cycles of many sizes and with many partners; the shortest is shown, the others are counted beside it.
// Nothing is taken out.
#pragma once

#include <string>
#include <vector>

#include "findings/finding.h"

namespace cleave::report {

struct SameSplit {
  size_t shown = 0;  // index of the finding; the first of them, so the shortest once findings are sorted
  std::vector<size_t> others;  // of cycles only
};

// Whether the cycle says what `shown` says: it splits the same unit on the same set, or on more.
bool same_split(const Finding& cycle, const Finding& shown);

// Every finding is in one group, groups in order of what they show. A cycle on Pool+Stats joins one on Pool.
std::vector<SameSplit> same_splits(const std::vector<Finding>& findings);

// "3 more cycles split Pool::with on Pool, of 3 to 5 units, with Pool::size …": empty if there are no others.
// `how` may say how to see them: "--all shows".
std::string others_sentence(const std::vector<Finding>& findings, const SameSplit& group,
                            const std::string& how);

}  // namespace cleave::report
