#include "control/running.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace cleave::exec {

std::string program_path(const std::string& name) {
  return std::string(CLEAVE_BINARY_DIR) + "/tests/control_programs/" + name;
}

Folder::Folder() {
  path_ = std::filesystem::temp_directory_path() / "cleave-control-test-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "no folder for the test";
}
Folder::~Folder() { std::filesystem::remove_all(path_); }

RunRequest request(const std::string& program, Policy policy, uint64_t seed) {
  RunRequest request;
  request.program = {program_path(program)};
  request.policy = policy;
  request.seed = seed;
  request.quiet = true;
  request.time_limit = std::chrono::seconds(120);
  return request;
}

RunOutcome must_run(const RunRequest& request) {
  Result<RunOutcome> outcome = run(request);
  EXPECT_TRUE(outcome.ok()) << outcome.error().sentence();
  return outcome.ok() ? std::move(outcome).value() : RunOutcome{};
}

RunRequest again(const RunRequest& first, const RunOutcome& outcome) {
  RunRequest request = first;
  request.policy = Policy::Replay;
  request.schedule = outcome.schedule;
  return request;
}

RunOutcome find_end(RunRequest& request, RunEnd end, unsigned most) {
  for (unsigned seed = 1; seed <= most; ++seed) {
    request.seed = seed;
    RunOutcome outcome = must_run(request);
    if (outcome.end == end) return outcome;
  }
  ADD_FAILURE() << request.program[0] << " never ended by " << word_of(end);
  return {};
}

CommandResult command(const std::string& line) {
  CommandResult result;
  std::FILE* pipe = popen((line + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {-1, "no shell"};
  std::array<char, 4096> part;
  while (size_t got = std::fread(part.data(), 1, part.size(), pipe)) result.output.append(part.data(), got);
  int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

}  // namespace cleave::exec
