// cleave explain: which switches between threads a failing run needs, and where they are.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "base/interrupt.h"
#include "base/progress.h"
#include "base/temporary.h"
#include "cli/common.h"
#include "cli/explain.h"
#include "cli/explain_topics.h"
#include "cli/witness_run.h"
#include "exec/run.h"
#include "hunt/minimize.h"
#include "hunt/split.h"
#include "schedule/witness.h"
#include "trace/core/load.h"

namespace cleave::cli {
namespace {

bool same_failure(const exec::RunOutcome& run, const exec::RunOutcome& failing) {
  return run.end == failing.end && run.exit_status == failing.exit_status && run.signal == failing.signal;
}

std::string text_of(const hunt::Place& place) {
  std::string file = std::filesystem::path(place.file).filename().string();
  std::string where = place.line != 0 ? fmt::format("{}:{}", file, place.line) : file;
  if (!place.callee.empty()) return fmt::format("{}, the call of {}", where, place.callee);
  return place.function.empty() ? where : fmt::format("{}, in {}", where, place.function);
}

void print_split(const hunt::Split& split) {
  bool preempted = split.at.how == Handover::Preempted;
  std::string subject = preempted
                            ? fmt::format("{} is stopped", split.thread)
                            : fmt::format("when {} waits or ends, {} goes on", split.thread, split.next);
  if (split.before.known() && split.after.known())
    fmt::print("  {}{}\n    after  {}\n    before {}\n", subject,
               split.function.empty() ? "" : fmt::format(" in {}", split.function), text_of(split.before),
               text_of(split.after));
  else if (split.before.known())
    fmt::print("  {} after {}, and does not go on\n", subject, text_of(split.before));
  else
    fmt::print("  {} before it does anything\n", subject);
  if (preempted && split.others.empty()) fmt::print("    {} runs meanwhile\n", split.next);
  for (const hunt::Interference& other : split.others)
    fmt::print("    meanwhile {} {} {} at {}\n", other.thread, other.write ? "writes" : "reads",
               other.variable, text_of(other.place));
}

void print_result(const hunt::Minimized& result, const std::vector<hunt::Split>& splits, size_t switches,
                  const std::string& failure) {
  size_t preemptions = 0;
  for (const Switch& each : result.needed) preemptions += each.how == Handover::Preempted;
  size_t choices = result.needed.size() - preemptions;
  auto many = [](size_t count, std::string_view one) {
    return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
  };
  std::string needs = preemptions != 0 ? many(preemptions, "preemption") : "";
  if (choices != 0) needs += fmt::format("{}{}", needs.empty() ? "" : " and ", many(choices, "ordering"));
  fmt::print("The failure ({}) needs {} of {} switches between threads{}:\n", failure, needs, switches,
             result.minimal ? "" : " at most");
  for (const hunt::Split& split : splits) print_split(split);
  if (const hunt::Split* main = hunt::main_split(splits); main != nullptr && !main->function.empty())
    fmt::print("What must not be split: {}, between {} and {}\n", main->function, text_of(main->before),
               text_of(main->after));
}

// The run with the needed switches once more, with its trace.
int show(exec::RunRequest request, const hunt::Minimized& result, size_t switches, const std::string& failure,
         const ExplainOptions& options) {
  Result<TemporaryFile> kept = TemporaryFile::make("explain");
  if (!kept) return unfinished(kept.error());
  request.switches = result.needed;
  request.trace = kept.value().path();
  Result<exec::RunOutcome> run = exec::run(request);
  if (!run) return unfinished(run.error());
  Result<Trace> trace = load_trace(request.trace);
  if (!trace) return unfinished(trace.error());
  print_result(result, hunt::locate_splits(trace.value(), run.value().schedule, result.needed), switches,
               failure);
  std::string path = options.output;
  if (path.empty())
    path = fmt::format("{}.explained.json", std::filesystem::path(options.witness).stem().string());
  if (Status written = write_witness(exec::witness_of(request, run.value()), path); !written)
    return unfinished(written.error());
  fmt::print("Found with {} runs. Replay it: cleave replay {}\n", result.runs, path);
  return static_cast<int>(Exit::Found);
}

}  // namespace

int explain(const ExplainOptions& options, const ProgramLine& program) {
  if (std::string_view text = explain_topic(options.witness); !text.empty()) {
    fmt::print("{}", text);
    return static_cast<int>(Exit::Nothing);
  }
  Result<Witness> witness = read_witness(options.witness);
  if (!witness) return usage_error(witness.error());
  Result<exec::RunRequest> asked =
      run_of_witness(witness.value(), {options.witness, options.trust, options.quiet}, program);
  if (!asked) return usage_error(asked.error());
  exec::RunRequest request = std::move(asked).value();
  request.policy = Policy::Switches;
  request.quiet = true;
  request.time_limit = std::chrono::seconds(options.time_limit);
  std::vector<Switch> switches = switches_of(witness.value().schedule);

  exec::RunRequest replay = request;
  replay.policy = Policy::Replay;
  replay.schedule = witness.value().schedule;
  Result<exec::RunOutcome> failing = exec::run(replay);
  if (!failing) return usage_error(failing.error());
  if (failing.value().end == exec::RunEnd::Diverged)
    return unfinished(Error{options.witness, "the program did not follow the witness; see cleave replay"});
  if (!failing.value().failing())
    return usage_error(Error{options.witness, "this run does not fail, so there is nothing to explain"});

  ProgressLine line(STDERR_FILENO);
  if (!options.quiet) line.progress().begin("runs to find what the failure needs");
  hunt::MinimizeOptions limits;
  limits.most_runs = options.runs;
  limits.interrupted = [] { return interrupted(); };
  Result<hunt::Minimized> result = hunt::minimize(
      switches,
      [&](const std::vector<Switch>& chosen) -> Result<bool> {
        request.switches = chosen;
        Result<exec::RunOutcome> run = exec::run(request);
        line.progress().more();
        if (!run) return run.error();
        return same_failure(run.value(), failing.value());
      },
      limits);
  line.clear();
  if (!result) return unfinished(result.error());
  std::string failure = failing.value().sentence();
  if (interrupted() && !result.value().reproduced)
    return unfinished(Error{options.witness, "interrupted before the failure was seen again"});
  if (!result.value().reproduced)
    return unfinished(
        Error{options.witness,
              "the order of threads alone does not bring the failure back; it also depends on values "
              "from outside or on a choice among waiting threads"});
  if (result.value().always) {
    fmt::print("The failure ({}) needs no switch: it is there when the threads run one after the other.\n",
               failure);
    return static_cast<int>(Exit::Found);
  }
  return show(request, result.value(), switches.size(), failure, options);
}

void add_explain_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* verb =
      app.add_subcommand("explain", "find the few switches between threads that a failing run needs");
  verb->add_option(
          "WITNESS", options->witness,
          "a witness file of a failing run, a trace of one that was recorded under control, or a word of a "
          "report: " +
              explain_topics())
      ->required();
  verb->add_option("-o,--output", options->output,
                   "the witness of the run with only these switches (default: NAME.explained.json)");
  verb->add_option("--runs", options->runs, "number of runs to spend at most")
      ->check(CLI::Range(2u, 100000u))
      ->capture_default_str();
  verb->add_option("--time-limit", options->time_limit, "seconds after which a run is stopped; 0: never")
      ->capture_default_str();
  verb->add_flag("--trust", options->trust,
                 "run the program of the witness although other users could have changed it or the witness");
  verb->add_flag("--quiet", options->quiet, "show no progress");
  verb->footer(
      "Runs the program again and again with fewer of the witness's switches, until each that is left is "
      "necessary.\n"
      "Exit status: 1 explained, 2 wrong usage or a run that does not fail, 3 the failure could not be "
      "reproduced.\n"
      "Example: cleave record --schedule random --runs 50 --first-failure -- ./bank; cleave explain "
      "bank.7.witness.json");
  verb->callback([options, &context] {
    context.run = [options, &context] {
      InterruptScope interrupts;
      return explain(*options, context.program);
    };
  });
}

}  // namespace cleave::cli
