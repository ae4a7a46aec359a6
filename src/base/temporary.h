// Where files go that nobody asked to keep.
#pragma once

#include <string>
#include <string_view>

namespace cleave {

// A pattern for mkstemp and mkdtemp, in TMPDIR, or in /tmp where that is not set: FOLDER/cleave-WHAT-XXXXXX.
std::string temporary_pattern(std::string_view what);

}  // namespace cleave
