// Standard output of the programs that a command runs. They inherit ours, so a report on it would become part
// of what the program wrote: it goes to standard error, unless the program's output goes to a file.
#pragma once

#include <string>

#include "base/result.h"

namespace cleave::cli {

class ProgramOutput {
 public:
  ProgramOutput() = default;
  ~ProgramOutput() { give_back(); }
  ProgramOutput(const ProgramOutput&) = delete;
  ProgramOutput& operator=(const ProgramOutput&) = delete;

  // From now on standard output is the file, which is made or made empty.
  Status redirect(const std::string& path);
  // Standard output is ours again.
  void give_back();

 private:
  int ours_ = -1;
};

}  // namespace cleave::cli
