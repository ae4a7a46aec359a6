// The tables of dependence/flow.h for the program of a trace. They are computed by libcleave_symbolic.so,
// which has LLVM, and are kept for the traces that follow of the same program.
#pragma once

#include <memory>

#include "base/result.h"
#include "dependence/flow.h"
#include "trace/recorded/reader.h"

namespace cleave::cli {

// An Error when the trace was not recorded, its program is not there any more, or the library cannot be
// loaded.
Result<std::shared_ptr<const dependence::ProgramFlow>> flow_of_recorded(const RecordedTrace& recorded);

}  // namespace cleave::cli
