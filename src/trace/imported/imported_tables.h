// The names of a trace that was built or imported, as they stand in its file: everything of a Trace but its
// events.
//
// A frame of zstd; and where nothing is known of the variables but their names, a second one with these. A
// million of them take longer to unpack than a million events to judge, and whoever finds nothing has nothing
// to name.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "trace/core/trace.h"

namespace cleave {

std::string write_tables(const Trace& trace);

// Into an empty builder. False: damaged. `names_later`: names of variables that stand apart are read when
// somebody asks for one; if they turn out to be damaged then, the variables are called ?0, ?1 and so on.
bool read_tables(std::span<const uint8_t> body, TraceBuilder& builder, bool names_later);

}  // namespace cleave
