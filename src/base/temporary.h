// Where files go that nobody asked to keep.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cleave {

// A pattern for mkstemp and mkdtemp, in TMPDIR, or in /tmp where that is not set: FOLDER/cleave-WHAT-XXXXXX.
std::string temporary_pattern(std::string_view what);

// The same in memory (/dev/shm), for a file of up to so many bytes that is read while it is written and then
// thrown away: what goes to a disk costs more than that. Only where TMPDIR is not set and four times as much
// is free; else as above.
std::string memory_pattern(std::string_view what, uint64_t bytes);

}  // namespace cleave
