// The program that a trace was recorded from.
#pragma once

#include "base/result.h"
#include "program/program.h"
#include "trace/recorded/trace_file.h"

namespace cleave {

// The binary that the trace names, with the modules of the shared libraries that it had loaded and that the
// trace has records of. An Error when the trace does not name one, or it cannot be read.
Result<Program> program_of_recorded(const TraceFile& file);

}  // namespace cleave
