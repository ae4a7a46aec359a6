// Runs a binary built with Cleave under a schedule or along a plan, and gives back how it ended and its
// trace.
//
// Reentrant: several runs may be under way in different threads of the tool. The program inherits standard
// input, output and error unless `quiet`. Cost: that of the program plus a few milliseconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/flow.h"
#include "exec/launch.h"
#include "schedule/constraint.h"
#include "schedule/plan.h"
#include "schedule/schedule.h"
#include "schedule/witness.h"

namespace cleave::exec {

struct RunRequest {
  std::vector<std::string> program;       // program and its arguments
  std::string executable;                 // the file to execute; empty: program[0] as the shell would find it
  std::optional<CheckedProgram> checked;  // only this file may be executed: a trace or witness named it
  std::string directory;                  // run there; empty: here
  Policy policy = Policy::Free;
  uint64_t seed = 0;
  unsigned pct_depth = 3;
  uint64_t pct_points = 0;              // scheduling points to expect; 0: 10,000
  bool spurious = false;                // condition variables may wake without a signal
  bool drain = true;                    // when main returns, the other threads go on until they end or wait
  std::optional<Plan> plan;             // Policy::Plan
  std::vector<Constraint> constraints;  // Policy::Rf; may be empty
  std::string sites;  // Policy::Plan, Rf with constraints: a trace of this build, from which sites are known
  std::optional<Schedule> schedule;                // Policy::Replay
  std::vector<Switch> switches;                    // Policy::Switches: those of one thread in their order
  std::map<std::string, std::string> inputs;       // values of cleave_input_* by name: decimal, or bytes
  std::map<std::string, std::string> environment;  // added to ours
  std::optional<Environment> inherited;            // instead of ours: what the recorded program found
  std::string trace;                               // where the trace goes; empty: none is kept
  std::chrono::milliseconds time_limit{0};         // 0: none
  uint64_t trace_limit = 0;       // bytes of trace at which the run is over, as at its time limit; 0: none
  bool random_addresses = false;  // under control they are fixed, so that pointers can be compared
  bool quiet = false;             // standard output and error of the program go nowhere
  bool pass_on = false;           // SIGHUP goes to it too (pass_on.h)
  std::chrono::milliseconds grace{1000};  // as in LaunchRequest
  uint64_t max_trace = 0;  // bytes at which the recording ends and the program goes on; 0: 8 GB
  std::function<void(const Flow&)> on_look;  // called now and then while the program runs
  const Flow* flow = nullptr;                // the caller's, who reads along; else one is made for the run
};

enum class RunEnd : uint8_t { Exited, Signalled, Deadlock, Livelock, TimeLimit, Diverged };
std::string_view word_of(RunEnd end);

struct PlanOutcome {
  uint64_t reached = 0;  // milestones passed, in order
  uint64_t total = 0;
  std::string why;  // empty if all were reached
  bool complete() const { return reached == total; }
};

struct RunOutcome {
  RunEnd end = RunEnd::Exited;
  int exit_status = 0;  // Exited
  int signal = 0;       // Signalled
  std::string
      text;  // Deadlock, Livelock, Diverged: who holds and waits for what; both sides of the difference
  PlanOutcome plan;
  uint64_t constraints_met = 0;  // Policy::Rf
  Schedule schedule;             // what was followed; empty under Free and Noise
  uint64_t switches = 0;
  uint64_t interleaving =
      0;  // hash of the order of synchronization and of the switches; 0 under Free and Noise
  double seconds = 0;
  std::string trace;

  // A crash, an assertion, a deadlock, a non-zero exit status: what `cleave record --runs` counts as failing.
  bool failing() const { return end != RunEnd::Exited || exit_status != 0; }
  std::string sentence() const;  // "exit status 1", "signal 6 (Aborted)", "deadlock"
};

// An Error when the program could not be started, is not built with Cleave, or the schedule belongs to
// another build.
Result<RunOutcome> run(const RunRequest& request);

// Whether the program of this trace has the accesses that the constraints speak of; a run leaves out those
// that it does not have.
Status check_constraints(const std::vector<Constraint>& constraints, const std::string& sites);

// How `run` would start the program: with its environment, and the given trace and control file.
LaunchRequest launch_request(const RunRequest& request, const std::string& trace, const std::string& control);

// The witness of a controlled run, to be written with write_witness.
Witness witness_of(const RunRequest& request, const RunOutcome& outcome);

}  // namespace cleave::exec
