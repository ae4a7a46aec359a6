// Where a person finds an access.
#pragma once

#include "findings/finding.h"
#include "trace/core/trace.h"

namespace cleave {

// Fills in function, file, line, stack and the type of the access. The place is the innermost frame that is
// the program's own code: what happens inside a std::map has happened where the program called it. The stack
// has all frames, the access itself first.
void put_place(AccessReport& access, const Trace& trace, SiteId site, ContextId context);

// AccessReport::op where memory is given back: a write of all that lies in it.
inline constexpr std::string_view kFreeOperation = "free";

// Fills in op and value. A write that is the end of the memory is a `free`, and what is read there afterwards
// is `freed`. `old_value`: what an update read.
void put_operation(AccessReport& access, EventKind kind, uint64_t value, uint64_t old_value = 0);

// Whether the standard library made this access for purposes of its own: an atomic one, of the count of a
// shared_ptr or the state of a stop_token, or a plain one, in a constructor. A std::atomic of the program is
// accessed by the program's own code, through the functions of std::atomic.
bool librarys_own(const Trace& trace, const Event& access);

}  // namespace cleave
