// Starts a program with some more environment and waits for it: the lowest step of every run, controlled or
// free.
//
// Reentrant. While a program runs, the quit key of the terminal is the program's business alone, and a
// request to end (SIGINT, SIGTERM; base/interrupt.h) goes to the program too: the tool says how it ended, and
// a second request ends both at once. Whatever ends the tool ends the program. Cost: a fork, and what the
// program takes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/trust.h"

namespace cleave::exec {

struct LaunchRequest {
  std::vector<std::string> program;       // program and its arguments; looked for in PATH without a slash
  std::string executable;                 // the file to execute; empty: program[0]
  std::optional<CheckedProgram> checked;  // only this file may be executed
  std::string directory;                  // run there; empty: here
  std::map<std::string, std::string> environment;               // added to ours
  std::optional<std::map<std::string, std::string>> inherited;  // instead of ours
  std::chrono::milliseconds time_limit{0};                      // then it is killed; 0: none
  std::string watched;            // a file: when it is larger than the limit, the program is killed too
  uint64_t watched_limit = 0;     // bytes; 0: none
  bool quiet = false;             // its standard output and error go nowhere
  int output = -1;                // a descriptor that its standard output goes to; -1: as said before
  bool fixed_addresses = false;   // no address randomization
  bool terminal_is_its = false;   // a debugger: the interrupt key is no request to end
  bool pass_on = false;           // SIGHUP goes to it too (pass_on.h)
  std::function<void()> on_look;  // called now and then while it runs
  std::chrono::milliseconds grace{
      1000};  // to end by itself after a request to end; then it is killed; 0: for ever
};

struct LaunchOutcome {
  enum class End { Exited, Signalled, TimeLimit };  // TimeLimit: or that of the watched file
  End end = End::Exited;
  int exit_status = 0;  // Exited
  int signal = 0;       // Signalled, TimeLimit
  double seconds = 0;
  long peak_kilobytes = 0;
};

// The file that the name means, as the shell would look for it. An Error when there is none that can be
// executed.
Result<std::string> find_program(const std::string& name);

// What a file is to us. A script is not looked into: it may well start something that was built with Cleave.
enum class ProgramKind { Instrumented, NotInstrumented, NotElf };
Result<ProgramKind> kind_of_program(const std::string& path);

// An Error that tells what to do when the program cannot be executed, was not built with Cleave, or is linked
// with a library whose scheduler Cleave does not see (OpenMP, TBB).
Status check_instrumented(const std::string& name);

// An Error when the program could not be started.
Result<LaunchOutcome> launch(const LaunchRequest& request);

// One more variable for the environment. The strings that a program is started with lie above its stack, so
// their length decides where everything on it lies, and a program that looks at memory it never wrote behaves
// differently. With this variable they are equally long for all environments and names that are not much
// longer.
std::string padding(const std::string& path, const LaunchRequest& request);

// Where the program's trace goes: the one variable that the runtime needs (docs/recording.md has the others).
inline constexpr const char* kTraceVariable = "CLEAVE_TRACE";

}  // namespace cleave::exec
