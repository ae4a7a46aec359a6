#include "cli/program_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace cleave::cli {

Status ProgramOutput::redirect(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return Error{path, fmt::format("cannot be written: {}", strerror(errno))};
  std::fflush(stdout);
  ours_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  const bool done = ours_ >= 0 && dup2(file, STDOUT_FILENO) >= 0;
  const int error = errno;
  close(file);
  if (!done) return Error{path, fmt::format("cannot become standard output: {}", strerror(error))};
  return Done{};
}

void ProgramOutput::give_back() {
  if (ours_ < 0) return;
  std::fflush(stdout);
  dup2(ours_, STDOUT_FILENO);
  close(ours_);
  ours_ = -1;
}

}  // namespace cleave::cli
