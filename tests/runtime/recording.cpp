#include "runtime/recording.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace cleave::test {

std::string scratch_directory(const std::string& name) {
  std::string path = fmt::format("{}/tests/scratch/{}.{}", CLEAVE_BINARY_DIR, name, getpid());
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

std::string program_path(const std::string& name) {
  return fmt::format("{}/tests/runtime_programs/{}", CLEAVE_BINARY_DIR, name);
}

int run_command(const std::string& command, std::string* said) {
  std::string output = fmt::format("{}/tests/scratch/said.{}", CLEAVE_BINARY_DIR, getpid());
  std::filesystem::create_directories(std::string(CLEAVE_BINARY_DIR) + "/tests/scratch");
  int status = std::system(fmt::format("( {} ) 2> {}", command, output).c_str());
  std::ifstream file(output);
  std::stringstream text;
  text << file.rdbuf();
  if (said != nullptr) *said = text.str();
  std::filesystem::remove(output);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Recording record_program(const std::string& name, const std::string& arguments, const std::string& prefix) {
  Recording recording;
  recording.path = scratch_directory(name) + "/trace.cleave";
  recording.status =
      run_command(fmt::format("{} {}/bin/cleave record -o {} -- {} {}", prefix, CLEAVE_BINARY_DIR,
                              recording.path, program_path(name), arguments),
                  &recording.said);
  recording.trace = read_raw_trace(recording.path, &recording.truncated);
  return recording;
}

}  // namespace cleave::test
