// What the tests of controlled runs share: programs by name, a folder that is gone afterwards, the command
// line.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "exec/run.h"

namespace cleave::exec {

std::string program_path(const std::string& name);

// A folder for traces and witnesses.
class Folder {
 public:
  Folder();
  ~Folder();
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

RunRequest request(const std::string& program, Policy policy, uint64_t seed = 1);
// Fails the test if the run could not be made.
RunOutcome must_run(const RunRequest& request);
// The same program along the schedule of `outcome`.
RunRequest again(const RunRequest& first, const RunOutcome& outcome);
// The first seed from 1 on with which the program ends this way; fails the test after `most`.
RunOutcome find_end(RunRequest& request, RunEnd end, unsigned most = 60);

struct CommandResult {
  int status = 0;
  std::string output;  // both streams
};
CommandResult command(const std::string& line);
inline std::string cleave() { return std::string(CLEAVE_BINARY_DIR) + "/bin/cleave"; }

}  // namespace cleave::exec
