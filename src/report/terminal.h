// Findings as a programmer reads them: what happened in which order, in which source lines, and why no serial
// order explains it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "model/finding.h"

namespace cleave::report {

// Text of a line of a source file, without its line end; nothing if it is not there.
using SourceLine = std::function<std::optional<std::string>(std::string_view file, uint32_t line)>;

// Reads from the file system, relative to the working directory; keeps what it has read.
SourceLine source_lines_from_disk();

struct TerminalOptions {
  bool colour = false;
  uint32_t width = 80;
  bool counts = true;       // the table of stages, and the last line
  SourceLine source;        // may be empty: no source text
  bool all_cycles = false;  // also those that split a unit on a set which a shorter one splits too
  std::string directory;    // files below it are named from there; empty: as they are
};

std::string to_terminal(const Findings& findings, const TerminalOptions& options);

}  // namespace cleave::report
