// What a person may want to say to Cleave about a cycle, with the very lines: that two fields have nothing to do with each
// other, when no lock is ever held at both; that the function that was split is not meant to be atomic.
//
// A second look at the whole trace, for those who have it; it changes no finding but its `hints`.
#pragma once

#include <span>

#include "analysis/conflict/check.h"

namespace cleave::conflict {

// O(events) for each set that has a finding.
void add_hints(const Trace& trace, const CheckOptions& options, std::span<Finding> findings);

}  // namespace cleave::conflict
