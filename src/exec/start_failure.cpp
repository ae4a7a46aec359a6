#include "exec/start_failure.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/temporary.h"

namespace cleave::exec {
namespace {

constexpr int kLoaderGaveUp = 127;  // the status with which ld.so ends a program, and a shell that finds none

// Libraries that the loader does not find, as `ldd` asks it.
std::vector<std::string> missing_libraries(LaunchRequest request) {
  Result<TemporaryFile> output = TemporaryFile::make("loader");
  if (!output) return {};
  request.environment["LD_TRACE_LOADED_OBJECTS"] = "1";
  request.time_limit = std::chrono::seconds(10);
  request.watched_limit = 0;
  request.quiet = true;
  request.output = output.value().descriptor();
  std::vector<std::string> missing;
  if (launch(request)) {
    std::ifstream lines(output.value().path());
    for (std::string line; std::getline(lines, line);) {
      if (line.find("not found") == std::string::npos) continue;
      const size_t begin = line.find_first_not_of(" \t");
      missing.push_back(line.substr(begin, line.find(" =>", begin) - begin));
    }
  }
  return missing;
}

// Why a few bytes cannot be put into the file of the trace, which nobody has written to; 0 if they can.
int write_error(const std::string& trace) {
  constexpr size_t kSome = 1 << 16;
  const int descriptor = open(trace.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  struct stat facts{};
  int error = 0;
  if (fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size == 0) {
    const std::string bytes(kSome, '\0');
    errno = 0;
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written != static_cast<ssize_t>(bytes.size())) error = errno != 0 ? errno : ENOSPC;
    if (ftruncate(descriptor, 0) != 0 && error == 0) error = errno;
  }
  close(descriptor);
  return error;
}

}  // namespace

std::string why_not_started(const LaunchRequest& request, const LaunchOutcome& outcome,
                            const std::string& trace) {
  if (const int error = write_error(trace); error != 0)
    return fmt::format("its trace cannot be written, so it was neither recorded nor controlled: {}: {}",
                       trace, std::strerror(error));
  if (outcome.end == LaunchOutcome::End::TimeLimit)
    return "it did not come to code that was built with Cleave before its time was over";
  if (outcome.end == LaunchOutcome::End::Signalled)
    return fmt::format("it ended by signal {} ({}) before it came to code that was built with Cleave",
                       outcome.signal, strsignal(outcome.signal));
  if (outcome.exit_status == kLoaderGaveUp) {
    const std::vector<std::string> missing = missing_libraries(request);
    if (!missing.empty())
      return fmt::format(
          "did not start: the dynamic loader does not find {}{}; is LD_LIBRARY_PATH as it was when "
          "the program was recorded?",
          missing[0], missing.size() > 1 ? fmt::format(" and {} more", missing.size() - 1) : "");
    return "did not start (exit status 127): the dynamic loader, or a script, did not find what it needs";
  }
  return fmt::format(
      "nothing was controlled: it ended with exit status {} and started no program that was built "
      "with Cleave",
      outcome.exit_status);
}

}  // namespace cleave::exec
