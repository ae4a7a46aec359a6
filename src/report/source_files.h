// Lines of source files, for people who read a report. Which file it is comes from a trace or a findings
// file, so from anybody: only what is allowed here is opened, and only if it is a regular file of a sensible
// size.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::report {

// Text of a line of a source file, without its line end; nothing if it is not there.
using SourceLine = std::function<std::optional<std::string>(std::string_view file, uint32_t line)>;

struct SourceFiles {
  // Folders: what lies below one of them, links resolved, and is named like source code. Relative names are
  // looked for in each.
  std::vector<std::string> roots;
  // Names that a program which may be trusted lists itself (program/program.h): opened as they are.
  std::set<std::string, std::less<>> listed;
};

inline constexpr uint64_t kLargestSource = uint64_t{16} << 20;  // bytes

// Reads from the file system; keeps what it has read.
SourceLine source_lines_from_disk(SourceFiles allowed);

}  // namespace cleave::report
