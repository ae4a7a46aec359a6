// Findings as a programmer reads them: what happened in which order, in which source lines, and why no serial
// order explains it.
#pragma once

#include <string>

#include "findings/finding.h"
#include "report/source_files.h"

namespace cleave::report {

struct TerminalOptions {
  bool colour = false;
  uint32_t width = 80;
  bool counts = true;       // the table of stages, and the last line
  SourceLine source;        // may be empty: no source text
  bool all_cycles = false;  // also those that split a unit on a set which a shorter one splits too
  bool theory = false;      // -v: patterns, conflicts of a cycle, more of the stacks
  bool stats = true;        // --stats: stages, counters, what was looked at
  std::string directory;    // files below it are named from there; empty: as they are
};

std::string to_terminal(const Findings& findings, const TerminalOptions& options);

}  // namespace cleave::report
