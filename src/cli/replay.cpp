// cleave replay: run a program along a witness, alone or under gdb.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "base/interrupt.h"
#include "base/temporary.h"
#include "cli/common.h"
#include "cli/replay_difference.h"
#include "cli/witness_run.h"
#include "exec/gdb.h"
#include "exec/run.h"
#include "schedule/witness.h"

namespace cleave::cli {
namespace {

struct ReplayOptions {
  std::string witness, trace;
  bool gdb = false, quiet = false, trust = false;
  unsigned time_limit = 0;
  uint64_t max_trace = 0;
};

int report(const exec::RunOutcome& outcome, const Witness& witness, const ReplayOptions& options) {
  if (outcome.end == exec::RunEnd::Diverged) {
    fmt::print(stderr, "cleave: the program did not follow the schedule: {}\n", outcome.text);
    // A witness that is a trace has every value.
    if (std::string both = replay_difference(options.witness, outcome.trace); !both.empty())
      fmt::print(stderr, "the first access that differs:\n{}\n", both);
    return static_cast<int>(Exit::Unfinished);
  }
  if (options.quiet) return static_cast<int>(Exit::Nothing);
  // Standard output is the program's.
  fmt::print(stderr, "followed {} points and {} switches of {} threads: {}\n", outcome.schedule.points(),
             outcome.switches, outcome.schedule.threads.size(), outcome.sentence());
  if (!outcome.text.empty()) fmt::print(stderr, "{}", outcome.text);
  if (!witness.outcome.empty() && witness.outcome != outcome.sentence())
    fmt::print(stderr, "recorded: {}\n", witness.outcome);
  return static_cast<int>(Exit::Nothing);
}

int replay(const ReplayOptions& options, const ProgramLine& program) {
  InterruptScope interrupts;
  Result<Witness> witness = read_witness(options.witness);
  if (!witness) return usage_error(witness.error());
  Result<exec::RunRequest> asked =
      run_of_witness(witness.value(), {options.witness, options.trust, options.quiet}, program);
  if (!asked) return usage_error(asked.error());
  exec::RunRequest request = std::move(asked).value();
  request.policy = Policy::Replay;
  request.schedule = witness.value().schedule;
  request.trace = options.trace;
  request.max_trace = options.max_trace;
  request.grace = {};
  request.time_limit = std::chrono::seconds(options.time_limit);
  if (options.gdb) {
    Result<int> status = exec::replay_in_gdb(request, witness.value().milestones);
    return status ? status.value() : usage_error(status.error());
  }
  std::optional<TemporaryFile> unkept;
  if (request.trace.empty()) {
    Result<TemporaryFile> made = TemporaryFile::make("replay");
    if (!made) return usage_error(made.error());
    unkept = std::move(made).value();
    request.trace = unkept->path();
  }
  Result<exec::RunOutcome> outcome = exec::run(request);
  return outcome ? report(outcome.value(), witness.value(), options) : usage_error(outcome.error());
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
  add_max_trace_option(*verb, options->max_trace);
  verb->add_flag("--trust", options->trust,
                 "run the program of the witness although other users could have changed it or the witness");
  verb->add_flag("--quiet", options->quiet, "say nothing but errors");
  verb->footer(
      "The program of the witness is run where it was run then, with the environment it had; another copy of "
      "it,\n"
      "which finds ours, can be given after --.\n"
      "Exit status: 0 the schedule was followed to its end, 3 the program left it (both sides are shown).\n"
      "Example: cleave record --schedule random --seed 3 -o bank.cleave -- ./bank; cleave replay "
      "bank.cleave");
  verb->callback([options, &context] {
    context.run = [options, &context] { return replay(*options, context.program); };
  });
}

}  // namespace cleave::cli
