// Runs a program of tests/runtime/programs under `cleave record` and gives back its trace.
#pragma once

#include <string>
#include <vector>

#include "runtime/raw_trace.h"

namespace cleave::test {

struct Recording {
  int status = 0;    // what cleave record returned
  std::string said;  // standard error of both
  std::string path;  // of the trace
  RawTrace trace;
  bool truncated = false;
};

// A fresh place for files of this test.
std::string scratch_directory(const std::string& name);
std::string program_path(const std::string& name);
// Runs a shell command; standard error goes to `said`.
int run_command(const std::string& command, std::string* said);
// `prefix` stands before the command (ulimit …; setarch …), `arguments` behind the program. The trace must be
// there.
Recording record_program(const std::string& name, const std::string& arguments = "",
                         const std::string& prefix = "");

}  // namespace cleave::test
