// What a failing run needs, for the verb `explain` and for those that find failures.
#pragma once

#include <string>

#include "cli/common.h"

namespace cleave::cli {

struct ExplainOptions {
  std::string witness, output;
  unsigned runs = 200;
  unsigned time_limit = 60;
  bool quiet = false, trust = false;
};

// Prints it; the exit status. Whoever calls it has an InterruptScope.
int explain(const ExplainOptions& options, const ProgramLine& program);

}  // namespace cleave::cli
