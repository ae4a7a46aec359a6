// What stands in the place of a value where there is none.
#pragma once

#include <cstdint>
#include <string_view>

namespace cleave {

// The value of an access of a stretch (ReadOptions::stretches). A program that has this number somewhere is
// not shown it in a report; nothing else depends on it.
inline constexpr uint64_t kNoValue = 0x9e5c0bd1a37f4826;

// What a location holds from the time its memory is given back: the value of the write that giving it back
// is, and of reads that come after it, whatever they found. `freed` in the text form.
inline constexpr uint64_t kFreed = 0xfee1dead0bad5eed;
inline constexpr std::string_view kFreedWord = "freed";

}  // namespace cleave
