// The static analysis from libcleave_static.so, which lies in lib/ beside the folder of this program.
#pragma once

#include "analysis/static/static_analysis.h"

namespace cleave::cli {

// As static_analysis::analyze; an Error too when the library, or LLVM, is not there.
Result<Findings> analyze_in_module(const Program& program, const static_analysis::StaticOptions& options);

}  // namespace cleave::cli
