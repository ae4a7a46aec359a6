// Two traces of what should have been the same run.
#pragma once

#include <string>

namespace cleave::cli {

// Both sides of the first event of a thread that differs between them, a line each; empty when there is none,
// or one of the files is no trace. Values that are addresses count as equal, as they do in a replay.
// O(events) time.
std::string replay_difference(const std::string& recorded, const std::string& now);

}  // namespace cleave::cli
