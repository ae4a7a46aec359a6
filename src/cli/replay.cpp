// cleave replay: run a program along a witness, alone or under gdb.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "cli/common.h"
#include "cli/replay_difference.h"
#include "exec/gdb.h"
#include "exec/run.h"
#include "schedule/witness.h"

namespace cleave::cli {
namespace {

struct ReplayOptions {
  std::string witness, trace;
  bool gdb = false, quiet = false;
  unsigned time_limit = 0;
};

exec::RunRequest request_of(const Witness& witness, const ReplayOptions& options,
                            const ProgramLine& program) {
  exec::RunRequest request;
  request.program = program.empty() ? witness.program : program;
  request.executable = program.empty() ? witness.executable : "";
  request.directory = program.empty() ? witness.directory : "";
  request.policy = Policy::Replay;
  request.schedule = witness.schedule;
  request.inputs = witness.inputs;
  request.trace = options.trace;
  request.time_limit = std::chrono::seconds(options.time_limit);
  return request;
}

int report(const exec::RunOutcome& outcome, const Witness& witness, const ReplayOptions& options) {
  if (outcome.end == exec::RunEnd::Diverged) {
    fmt::print(stderr, "cleave: the program did not follow the schedule: {}\n", outcome.text);
    // A witness that is a trace has every value.
    if (std::string both = replay_difference(options.witness, outcome.trace); !both.empty())
      fmt::print(stderr, "the first access that differs:\n{}\n", both);
    return static_cast<int>(Exit::Unfinished);
  }
  if (options.quiet) return static_cast<int>(Exit::Nothing);
  fmt::print("followed {} points and {} switches of {} threads: {}\n", outcome.schedule.points(),
             outcome.switches, outcome.schedule.threads.size(), outcome.sentence());
  if (!outcome.text.empty()) fmt::print("{}", outcome.text);
  if (!witness.outcome.empty() && witness.outcome != outcome.sentence())
    fmt::print("recorded: {}\n", witness.outcome);
  return static_cast<int>(Exit::Nothing);
}

int replay(const ReplayOptions& options, const ProgramLine& program) {
  Result<Witness> witness = read_witness(options.witness);
  if (!witness) return usage_error(witness.error());
  exec::RunRequest request = request_of(witness.value(), options, program);
  if (options.gdb) {
    Result<int> status = exec::replay_in_gdb(request, witness.value().milestones);
    return status ? status.value() : usage_error(status.error());
  }
  std::string kept =
      (std::filesystem::temp_directory_path() / fmt::format("cleave-replay-{}.cleave", getpid())).string();
  if (request.trace.empty()) request.trace = kept;
  Result<exec::RunOutcome> outcome = exec::run(request);
  int status = outcome ? report(outcome.value(), witness.value(), options) : usage_error(outcome.error());
  if (request.trace == kept) unlink(kept.c_str());
  return status;
}

}  // namespace

void add_replay_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* verb = app.add_subcommand("replay", "run a program along a witness");
  verb->add_option("WITNESS", options->witness, "a witness file, or a trace that was recorded under control")
      ->required();
  verb->add_flag("--gdb", options->gdb,
                 "under gdb: it stops at the accesses of the finding, one after the other");
  verb->add_option("-o,--output", options->trace, "keep the trace of the replay");
  verb->add_option("--time-limit", options->time_limit,
                   "seconds after which the program is stopped; 0: never");
  verb->add_flag("--quiet", options->quiet, "say nothing but errors");
  verb->footer(
      "The program of the witness is run where it was run then; another copy of it can be given after --.\n"
      "Exit status: 0 the schedule was followed to its end, 3 the program left it (both sides are shown).\n"
      "Example: cleave record --schedule random --seed 3 -o bank.cleave -- ./bank; cleave replay "
      "bank.cleave");
  verb->callback([options, &context] {
    context.run = [options, &context] { return replay(*options, context.program); };
  });
}

}  // namespace cleave::cli
