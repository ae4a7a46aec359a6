// `cleave cc …` and `cleave c++ …`: the compiler's own command lines, which no parser of ours may touch.
#pragma once

#include <optional>

namespace cleave::cli {

// Becomes the compiler when the first word says so; gives an exit status when that failed, nothing when it is
// not asked.
std::optional<int> run_as_compiler(int argc, char** argv);

}  // namespace cleave::cli
