// A recorded program's trace and those of the processes it made, which have its name and their number: TRACE.PID.
#pragma once

#include <string>

namespace cleave {

// Removes them all; what is not there is no error.
void remove_trace(const std::string& path);

}  // namespace cleave
