// Which program a recorded trace is of, and how it was started.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/trust.h"
#include "schedule/recorded_process.h"

namespace cleave::confirm {

struct ProgramLine {
  std::vector<std::string> words;               // program and its arguments
  std::string directory;                        // where it was run; empty: not known
  std::optional<Environment> environment;       // what it found there; nothing: not known
  std::string build_id;                         // of the program, hexadecimal; empty: not known
  std::optional<exec::CheckedProgram> checked;  // the file that may be run
};

// An Error for text traces and for traces that do not say it.
Result<ProgramLine> program_of_trace(const std::string& path);

// Whether the trace has a schedule in it: one thread ran at a time, and the order of its events is the real
// one.
bool recorded_under_control(const std::string& path);

}  // namespace cleave::confirm
