#include "exec/run.h"

#include <fmt/format.h>

#include <cstring>

namespace cleave::exec {

std::string_view word_of(RunEnd end) {
  switch (end) {
    case RunEnd::Exited: return "exit";
    case RunEnd::Signalled: return "crash";
    case RunEnd::Deadlock: return "deadlock";
    case RunEnd::Livelock: return "livelock";
    case RunEnd::TimeLimit: return "time limit";
    case RunEnd::Diverged: return "diverged";
  }
  return "unknown";
}

std::string RunOutcome::sentence() const {
  if (end == RunEnd::Exited) return fmt::format("exit status {}", exit_status);
  if (end == RunEnd::Signalled) return fmt::format("signal {} ({})", signal, strsignal(signal));
  return std::string(word_of(end));
}

Result<RunOutcome> run(const RunRequest& request) {
  return Error{request.program.empty() ? "" : request.program[0], "running under control is not built yet"};
}

Witness witness_of(const RunRequest& request, const RunOutcome& outcome) {
  Witness witness;
  witness.program = request.program;
  witness.directory = request.directory;
  witness.inputs = request.inputs;
  witness.schedule = outcome.schedule;
  witness.outcome = outcome.sentence();
  return witness;
}

}  // namespace cleave::exec
