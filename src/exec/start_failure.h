// Why a program that was started never came to code that was built with Cleave.
#pragma once

#include <string>

#include "exec/launch.h"

namespace cleave::exec {

// One sentence. Where its trace cannot be written (a full disk), it has run as if it were not built with
// Cleave. Where the dynamic loader gave up, it is asked which library it does not find; the program itself
// does not run for that.
std::string why_not_started(const LaunchRequest& request, const LaunchOutcome& outcome,
                            const std::string& trace);

}  // namespace cleave::exec
