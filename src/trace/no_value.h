// What stands in the place of a value where there is none.
#pragma once

#include <cstdint>

namespace cleave {

// The value of an access of a stretch (ReadOptions::stretches). A program that has this number somewhere is
// not shown it in a report; nothing else depends on it.
inline constexpr uint64_t kNoValue = 0x9e5c0bd1a37f4826;

}  // namespace cleave
