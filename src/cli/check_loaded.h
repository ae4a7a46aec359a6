// cleave check with units that only a whole trace shows (--units causal): the trace is loaded, its units are
// found, and then the same graph judges them.
#pragma once

#include <string>
#include <vector>

#include "analysis/conflict/check.h"
#include "base/result.h"

namespace cleave::cli {

struct LoadedReport {
  conflict::CheckReport report;
  std::string program;
  std::vector<std::string> remarks;
  std::vector<std::string> unmatched_units;  // globs of --units that fit no function
};

// 32 bytes of memory an event, and those of the records. A trace without records (text, RAPID) is judged
// with critical sections as units, and a remark says so.
Result<LoadedReport> check_loaded(const std::string& trace, conflict::CheckOptions options);

// The causal units of the trace, one line for each function, set and rule, with an example.
Result<std::string> explain_units(const std::string& trace, const conflict::CheckOptions& options);

}  // namespace cleave::cli
