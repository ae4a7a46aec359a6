// Where a person finds an access.
#pragma once

#include "model/finding.h"
#include "trace/trace.h"

namespace cleave {

// Fills in function, file, line and stack. The place is the innermost frame that is the program's own code: what happens
// inside a std::map has happened where the program called it. The stack has all frames, the access itself first.
void put_place(AccessReport& access, const Trace& trace, SiteId site, ContextId context);

}  // namespace cleave
