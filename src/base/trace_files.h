// A recorded program's trace and those of the processes it made, which have its name and their number:
// TRACE.PID.
#pragma once

#include <string>

#include "base/result.h"

namespace cleave {

// Empties the file, so that the program finds it free, and finds out now rather than later that it cannot be
// written.
Status prepare_trace(const std::string& path);

}  // namespace cleave
