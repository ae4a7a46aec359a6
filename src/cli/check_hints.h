// Hints on check's findings, from a second look at the trace where that is needed and does not take long.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/conflict/check.h"

namespace cleave::cli {

// `tables` as they were at the end of the first look. A trace of more than `most` bytes is not gone through
// again; a remark says so if that may cost a hint, or if it could not be read again.
void add_hints(const Trace& tables, const conflict::CheckOptions& options, std::span<Finding> findings,
               const std::string& trace, uint64_t most, std::vector<std::string>& remarks);

}  // namespace cleave::cli
