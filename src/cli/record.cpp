// cleave record: run a program built with Cleave and keep its trace; under control, once or many times.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <set>

#include "base/interrupt.h"
#include "base/trace_files.h"
#include "cli/common.h"
#include "cli/constraints.h"
#include "confirm/failures.h"
#include "exec/launch.h"
#include "exec/pass_on.h"
#include "exec/run.h"
#include "report/explain.h"
#include "schedule/witness.h"

namespace cleave::cli {
namespace {

struct RecordOptions {
  std::string trace;
  std::string schedule = "free", constraints;
  uint64_t seed = 1;
  unsigned runs = 1;
  unsigned pct_depth = 3;
  uint64_t pct_points = 0;
  unsigned time_limit = 0;
  bool spurious = false;
  bool no_drain = false;
  bool first_failure = false;
  bool quiet = false;
  uint64_t max_trace = 0;
};

// Says how far a long recording is: once at a quarter of a gigabyte, then whenever it has doubled. Lines, not
// one that is drawn over: the terminal is the program's.
class RecordProgress {
 public:
  explicit RecordProgress(bool quiet) : told_(!quiet && isatty(STDERR_FILENO) != 0) {}
  void operator()(const exec::Flow& flow) {
    if (!told_ || flow.written() < next_) return;
    next_ = std::max(next_ * 2, flow.written());
    fmt::print(stderr, "cleave: recorded {:.1f} million blocks of events, {} MB\n",
               static_cast<double>(flow.records()) / 1e6, flow.written() >> 20);
  }

 private:
  bool told_;
  uint64_t next_ = uint64_t{256} << 20;
};

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// The program is run in our directory, but may change its own before it opens the file: the name is made
// absolute.
Result<std::string> absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  char here[4096];
  if (getcwd(here, sizeof here) == nullptr)
    return Error{path, fmt::format("no current directory: {}", strerror(errno))};
  return std::string(here) + "/" + path;
}

bool is_empty_file(const std::string& path) {
  struct stat facts{};
  return stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size == 0;
}

int exit_status_of(const exec::RunOutcome& outcome) {
  if (outcome.end == exec::RunEnd::Exited) return outcome.exit_status;
  if (outcome.end == exec::RunEnd::Signalled) return 128 + outcome.signal;
  return static_cast<int>(Exit::Unfinished);
}

// How it ended if not by itself, and how to see it again.
void tell(const exec::RunRequest& request, const exec::RunOutcome& outcome, const std::string& witness) {
  if (outcome.end != exec::RunEnd::Exited)
    fmt::print(stderr, "cleave: {}: {}\n{}", request.program[0], outcome.sentence(), outcome.text);
  if (outcome.failing() && serialised(request.policy))
    fmt::print(stderr, "cleave: again with: cleave replay {}\n", witness);
}

exec::RunRequest request_of(const RecordOptions& options, const ProgramLine& program,
                            const std::string& trace) {
  exec::RunRequest request;
  request.program = program;
  request.seed = options.seed;
  request.pct_depth = options.pct_depth;
  request.pct_points = options.pct_points;
  request.spurious = options.spurious;
  request.drain = !options.no_drain;
  request.time_limit = std::chrono::seconds(options.time_limit);
  request.trace = trace;
  request.pass_on = true;
  request.max_trace = options.max_trace;
  if (options.runs == 1) request.grace = {};  // one run: it ends when it likes, or when it is asked twice
  request.on_look = [progress = RecordProgress(options.quiet)](const exec::Flow& flow) mutable {
    progress(flow);
  };
  parse(options.schedule, &request.policy);
  char here[4096];
  if (getcwd(here, sizeof here) != nullptr) request.directory = here;
  return request;
}

int record_once(const exec::RunRequest& request) {
  Result<exec::RunOutcome> outcome = exec::run(request);
  if (!outcome || is_empty_file(request.trace)) {
    bool nothing = is_empty_file(request.trace);
    if (nothing) unlink(request.trace.c_str());
    if (!outcome) return usage_error(outcome.error());
    return usage_error(
        Error{request.program[0], "nothing was recorded: it started no program that was built with Cleave"});
  }
  tell(request, outcome.value(), request.trace);
  return exit_status_of(outcome.value());
}

bool asked_to_end() { return interrupted() || exec::SignalForwarder::asked(); }

// One line a run, on standard error: standard output is the program's. The first run of each way to fail
// leaves a witness.
int record_many(exec::RunRequest request, const RecordOptions& options) {
  std::set<uint64_t> interleavings;
  confirm::FailureLog failures(request.program[0]);
  ConstraintSource constraints(request);
  const bool repeats = serialised(request.policy);
  int status = 0;
  while (failures.runs() < options.runs && !(options.first_failure && failures.failed() > 0) &&
         !asked_to_end()) {
    const uint64_t number = failures.runs() + 1;
    request.seed = options.seed + number - 1;
    constraints.before(request);
    Result<exec::RunOutcome> result = exec::run(request);
    if (!result) return usage_error(result.error());
    if (asked_to_end() && result.value().failing()) break;  // that is our doing
    const exec::RunOutcome& outcome = result.value();
    constraints.after(request);
    std::string line = fmt::format("run {} seed {}: {}", number, request.seed, outcome.sentence());
    if (repeats) {
      bool fresh = interleavings.insert(outcome.interleaving).second;
      line += fmt::format(", {} points, {} switches, {}", outcome.schedule.points(), outcome.switches,
                          fresh ? "new interleaving" : "seen before");
    }
    if (!options.quiet) fmt::print(stderr, "{}\n", line);
    const std::optional<uint64_t> seed = repeats ? std::optional(request.seed) : std::nullopt;
    confirm::FailureLog::Failure* failure = failures.add(outcome, seed, fmt::format("run {}", number));
    if (status == 0 && outcome.failing()) status = exit_status_of(outcome);
    if (failure == nullptr) continue;
    if (!outcome.text.empty()) fmt::print(stderr, "{}", outcome.text);
    const std::string path = fmt::format("{}.{}.witness.json", base_name(request.program[0]), request.seed);
    if (Status written = confirm::FailureLog::keep_witness(*failure, request, outcome, path); !written)
      return usage_error(written.error());
    if (!failure->witness.empty())
      fmt::print(stderr, "  again with: cleave replay {}\n  what it needs: cleave explain {}\n", path, path);
  }
  for (const Finding& failure : failures.findings()) fmt::print(stderr, "{}\n", report::why(failure));
  if (!options.quiet)
    fmt::print(stderr, "{} of {} runs failed{}\n", failures.failed(), failures.runs(),
               repeats ? fmt::format(", {} different interleavings", interleavings.size()) : "");
  if (!asked_to_end()) return status;
  fmt::print(stderr, "cleave: ended on request after {} of {} runs\n", failures.runs(), options.runs);
  return status != 0 ? status : static_cast<int>(Exit::Unfinished);
}

// How many points a run of the program has: pct places its changes among so many.
Result<uint64_t> count_points(exec::RunRequest request) {
  request.policy = Policy::Serial;
  request.trace.clear();
  request.quiet = true;
  Result<exec::RunOutcome> outcome = exec::run(request);
  if (!outcome) return outcome.error();
  return std::max<uint64_t>(outcome.value().schedule.points(), 1);
}

int record(const RecordOptions& options, const ProgramLine& program) {
  InterruptScope interrupts;
  if (program.empty())
    return usage_error(Error{"", "no program was given: cleave record -o TRACE -- PROG ARGS"});
  if (Status status = exec::check_instrumented(program[0]); !status) return usage_error(status.error());
  Result<std::string> trace =
      absolute(options.trace.empty() ? base_name(program[0]) + ".cleave" : options.trace);
  if (!trace) return usage_error(trace.error());
  if (Status status = prepare_trace(trace.value()); !status) return usage_error(status.error());
  exec::RunRequest request = request_of(options, program, trace.value());
  if (request.policy == Policy::Pct && request.pct_points == 0) {
    Result<uint64_t> points = count_points(request);
    if (!points) return usage_error(points.error());
    request.pct_points = points.value();
  }
  std::optional<TemporaryFile> sites;
  if (Status given = add_constraints(options.constraints, request, sites); !given)
    return usage_error(given.error());
  return options.runs > 1 ? record_many(std::move(request), options) : record_once(request);
}

}  // namespace

void add_record_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<RecordOptions>();
  CLI::App* verb = app.add_subcommand("record", "run a program built with Cleave and record what it does");
  verb->add_option("-o,--output", options->trace, "the trace (default: name of the program with .cleave)");
  verb->add_option("--schedule", options->schedule,
                   "who runs when: free as the system likes; serial one thread at a time, reverse the "
                   "same with the youngest first, first with thread SEED first; random, pct, pos (partial "
                   "order sampling), rf (reads-from constraints); noise (free, with delays)")
      ->check(CLI::IsMember(schedule_words()))
      ->capture_default_str();
  verb->add_option("--seed", options->seed, "of random, pct and noise; run N of --runs takes seed + N - 1")
      ->check(not_negative())
      ->capture_default_str();
  verb->add_option("--runs", options->runs, "run so many times, one line each; failing runs leave a witness")
      ->check(CLI::Range(1u, 1000000u))
      ->capture_default_str();
  verb->add_flag("--first-failure", options->first_failure, "with --runs: stop at the first run that fails");
  verb->add_option("--pct-depth", options->pct_depth, "pct: priorities change at one place less than this")
      ->check(CLI::Range(1u, 1000u))
      ->capture_default_str();
  verb->add_option("--pct-points", options->pct_points,
                   "pct: scheduling points to expect (default: those of a serial run)");
  verb->add_option("--constraints", options->constraints,
                   "rf: a file of lines like `write bank.cpp:16 -> read bank.cpp:12` (default: sampled from "
                   "what earlier runs did)");
  verb->add_flag("--spurious", options->spurious, "random: waits on conditions may end without a signal");
  verb->add_flag(
      "--no-drain", options->no_drain,
      "under control: end the process as soon as main returns, whatever other threads have yet to do");
  verb->add_option("--time-limit", options->time_limit, "seconds after which a run is stopped; 0: never");
  add_max_trace_option(*verb, options->max_trace);
  verb->add_flag("--quiet", options->quiet, "say nothing but errors");
  verb->footer(
      "The exit status is the program's own; 128 + N if signal N killed it; 3 for a deadlock, a livelock or "
      "the\n"
      "time limit; 2 if it could not be run. With --runs it is that of the first run that failed.\n"
      "Example: cleave-c++ -g -O1 bank.cpp -o bank && cleave record -o bank.cleave -- ./bank");
  verb->callback([options, &context] {
    context.run = [options, &context] { return record(*options, context.program); };
  });
}

}  // namespace cleave::cli
