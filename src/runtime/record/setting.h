// What somebody outside asks of the runtime: the variables CLEAVE_*.
#pragma once

#include <stdlib.h>
#include <sys/auxv.h>

namespace cleave::runtime {

// Null if it is not set, and in a program that runs with more rights than whoever started it (set-user-ID,
// set-group-ID, capabilities): that one chooses the environment, and would have files made with rights that
// are not his.
inline const char* setting(const char* name) { return getauxval(AT_SECURE) != 0 ? nullptr : getenv(name); }

}  // namespace cleave::runtime
