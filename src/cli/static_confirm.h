// cleave static --confirm -- PROG ARGS: what the analysis found, tried on the running program.
#pragma once

#include "base/result.h"
#include "cli/common.h"
#include "findings/finding.h"

namespace cleave::cli {

struct StaticConfirmOptions {
  uint64_t executions = 60, seed = 1;
  unsigned time_limit = 20;  // seconds for one execution
  double budget = 120;       // seconds for all of them
};

// Searches for executions in which another thread comes between the accesses of each finding; its unit is
// atomic for that. A finding that such an execution shows takes its verdict and its witness; failures of the
// program are added. The others stay as they are, with the reason in their note.
Status confirm_by_running(const ProgramLine& program, const CommonOptions& common,
                          const StaticConfirmOptions& options, Findings& findings);

}  // namespace cleave::cli
