#include "cli/check_live.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>

#include "abi/trace_file.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "base/temporary.h"
#include "base/trace_files.h"
#include "cli/check_hints.h"
#include "cli/check_loaded.h"
#include "cli/check_source.h"
#include "cli/units_and_sets.h"
#include "exec/flow.h"
#include "exec/launch.h"
#include "exec/pass_on.h"
#include "exec/run.h"
#include "trace/live/read_ahead.h"
#include "trace/recorded/reader.h"

namespace cleave::cli {
namespace {

// Bytes of trace that are gone through again: a second or two. Raw records are about five times as long.
constexpr uint64_t kHintsUpTo = 32u << 20, kHintsUpToRaw = 128u << 20;

// What a trace that is not kept may hold in memory: what is gone through again, and what we are behind.
struct LiveBounds {
  uint64_t hints = kHintsUpTo;
  uint64_t lag = 0;
};
LiveBounds bounds_of(const LiveOptions& live) {
  const uint64_t most = exec::most_live_bytes();
  LiveBounds bounds;
  if (live.trace.empty()) bounds.hints = std::min(kHintsUpToRaw, most / 2);
  bounds.lag = live.allowed_lag ? *live.allowed_lag : most - bounds.hints;
  return bounds;
}

// The file that the program writes and we read; goes with us unless it is to be kept.
class LiveTrace {
 public:
  explicit LiveTrace(const LiveOptions& live) : kept_(!live.trace.empty()) {
    if (kept_) {
      path_ = std::filesystem::absolute(live.trace).string();
      ready_ = prepare_trace(path_);
      return;
    }
    Result<TemporaryFile> made = TemporaryFile::make("check", TemporaryFile::Place::Either);
    if (!made) {
      ready_ = made.error();
      return;
    }
    file_ = std::move(made).value();
    path_ = file_->path();
  }
  LiveTrace(const LiveTrace&) = delete;
  LiveTrace& operator=(const LiveTrace&) = delete;

  // Whether the program will be able to write it.
  const Status& ready() const { return ready_; }
  const std::string& path() const { return path_; }
  uint64_t size() const {
    struct stat facts{};
    return stat(path_.c_str(), &facts) == 0 ? static_cast<uint64_t>(facts.st_size) : 0;
  }

 private:
  bool kept_;
  std::optional<TemporaryFile> file_;  // where it is not kept
  std::string path_;
  Status ready_ = Done{};
};

// Runs the program in a thread of its own, so that this one can follow.
class Runner {
 public:
  Runner(const ProgramLine& program, const LiveOptions& live, const std::string& trace,
         const exec::Flow& flow)
      : thread_([this, program, live, trace, &flow] { run(program, live, trace, flow); }) {}
  ~Runner() { thread_.join(); }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  bool running() const { return !done_.load(std::memory_order_acquire); }
  // After it is done: how it ended, or why it could not run; and what was asked for.
  Result<exec::RunOutcome>& outcome() { return outcome_; }
  const exec::RunRequest& request() const { return request_; }

 private:
  void run(const ProgramLine& program, const LiveOptions& live, const std::string& trace,
           const exec::Flow& flow) {
    request_.program = program;
    request_.policy = live.policy;
    request_.seed = live.seed;
    request_.constraints = live.constraints;
    request_.sites = live.sites;
    request_.drain = !live.no_drain;
    request_.trace = trace;
    request_.flow = &flow;
    if (live.trace.empty()) request_.environment[CLEAVE_TRACE_RAW_VARIABLE] = "1";
    outcome_ = live.policy == Policy::Free ? run_free(flow) : exec::run(request_);
    request_.flow = nullptr;
    done_.store(true, std::memory_order_release);
  }
  Result<exec::RunOutcome> run_free(const exec::Flow& flow) const {
    exec::LaunchRequest request;
    request.program = request_.program;
    request.environment = request_.environment;
    request.environment[exec::kTraceVariable] = request_.trace;
    request.environment[CLEAVE_FLOW_VARIABLE] = flow.path();
    Result<exec::LaunchOutcome> ended = exec::launch(request);
    if (!ended) return ended.error();
    const bool exited = ended.value().end == exec::LaunchOutcome::End::Exited;
    return exec::RunOutcome{.end = exited ? exec::RunEnd::Exited : exec::RunEnd::Signalled,
                            .exit_status = ended.value().exit_status,
                            .signal = ended.value().signal};
  }

  std::atomic<bool> done_{false};
  exec::RunRequest request_;
  Result<exec::RunOutcome> outcome_ = exec::RunOutcome();
  std::thread thread_;
};

// Notices that the program waits for a reader that itself waits for the program: nobody would ever go on.
class Standstill {
 public:
  explicit Standstill(const exec::Flow& flow) : flow_(flow) {}
  void read_on(uint64_t bytes) {
    if (bytes != read_) since_.reset();
    read_ = bytes;
  }
  bool lasts() {
    constexpr auto kLong = std::chrono::seconds(10);
    const auto now = std::chrono::steady_clock::now();
    if (!flow_.waiting())
      since_.reset();
    else if (!since_)
      since_ = now;
    return since_ && now - *since_ >= kLong;
  }

 private:
  const exec::Flow& flow_;
  uint64_t read_ = 0;
  std::optional<std::chrono::steady_clock::time_point> since_;
};

// Attaches gdb on our terminal and waits until the person is done.
void debug(pid_t process) {
  pid_t child = fork();
  if (child == 0) {
    std::string number = std::to_string(process);
    execlp("gdb", "gdb", "-q", "-p", number.c_str(), static_cast<char*>(nullptr));
    fmt::print(stderr, "cleave: gdb cannot be started: {}\n", strerror(errno));
    _exit(127);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
}

void stop_program(pid_t process, bool gdb) {
  if (process <= 0) return;
  kill(process, SIGSTOP);
  if (gdb) debug(process);
  kill(process, SIGKILL);
}

// The terminal is the program's as long as it runs. Afterwards a line says how far we are, and makes way for
// a finding.
class CatchingUp {
 public:
  explicit CatchingUp(bool quiet) : terminal_(quiet ? -1 : STDERR_FILENO) {}
  void judging(size_t events, bool program_runs) {
    if (program_runs) return;
    if (!line_) {
      line_.emplace(terminal_);
      line_->progress().begin("events judged since the program has ended");
    }
    line_->progress().more(events);
  }
  void make_way() { line_.reset(); }

 private:
  int terminal_;
  std::optional<ProgressLine> line_;
};

// Waits until the program has begun its trace. False: it ended without one.
bool wait_for_trace(const LiveTrace& trace, const Runner& runner) {
  while (trace.size() < sizeof(cleave_file_header)) {
    if (!runner.running()) return trace.size() >= sizeof(cleave_file_header);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// Units that only the whole trace shows: the program runs to its end first.
Result<LiveReport> check_afterwards(const LiveTrace& trace, Runner& runner,
                                    const conflict::CheckOptions& options) {
  while (runner.running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (!runner.outcome()) return runner.outcome().error();
  Result<LoadedReport> loaded = check_loaded(trace.path(), options);
  if (!loaded) return loaded.error();
  LiveReport report;
  report.report = std::move(loaded.value().report);
  report.program = std::move(loaded.value().program);
  report.remarks = std::move(loaded.value().remarks);
  report.unmatched_units = std::move(loaded.value().unmatched_units);
  report.outcome = std::move(runner.outcome()).value();
  report.request = runner.request();
  report.stopped = interrupted() || exec::SignalForwarder::asked();
  report.ended = report.outcome.sentence();
  return report;
}

bool asked_to_end() { return interrupted() || exec::SignalForwarder::asked(); }

bool any_fresh(const std::vector<Finding>& findings,
               const std::function<bool(const std::string& id)>& known) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& finding) { return !known(finding.id); });
}

}  // namespace

Result<LiveReport> check_live(const ProgramLine& program, const LiveOptions& live,
                              conflict::CheckOptions options,
                              const std::function<bool(const std::string& id)>& known) {
  if (Status status = exec::check_instrumented(program[0]); !status) return status.error();
  if (options.units.causal && live.gdb)
    return Error{"--gdb", "causal units are known when the program has ended; choose other --units"};
  options.stop_at_first = live.stop;
  LiveTrace trace(live);
  if (!trace.ready()) return trace.ready().error();
  const LiveBounds bounds = bounds_of(live);
  // Where the trace is read when the program has ended, the bound ends the recording and not the program's
  // run.
  const bool afterwards = options.units.causal;
  uint64_t most = exec::most_trace_bytes(trace.path(), live.max_trace);
  if (live.trace.empty()) most = afterwards ? exec::most_live_bytes() : CLEAVE_FLOW_NO_LIMIT;
  Result<exec::Flow> made = exec::Flow::make(most, afterwards ? CLEAVE_FLOW_NO_LIMIT : bounds.lag);
  if (!made) return made.error();
  exec::Flow& flow = made.value();
  Runner runner(program, live, trace.path(), flow);
  if (!wait_for_trace(trace, runner)) {
    if (!runner.outcome()) return runner.outcome().error();
    return Error{program[0], "nothing was recorded: it started no program that was built with Cleave"};
  }
  if (afterwards) return check_afterwards(trace, runner, options);
  bool stood_still = false;
  Standstill standstill(flow);
  ReadOptions reading;
  reading.writer_alive = [&] {
    stood_still = stood_still || standstill.lasts();
    if (stood_still) flow.close();
    return runner.running() && !stood_still && !asked_to_end();
  };
  reading.on_progress = [&](uint64_t bytes) {
    standstill.read_on(bytes);
    flow.consumed(bytes);
  };
  reading.reuse_ids = true;
  reading.stretches = takes_stretches(options);
  if (live.trace.empty()) reading.erase_beyond = bounds.hints;
  Result<std::unique_ptr<BinarySource>> source = open_binary_trace(trace.path(), reading);
  if (!source) return source.error();
  auto process = static_cast<pid_t>(source.value()->file().process_id());
  exec::SignalForwarder passed_on(process);

  CatchingUp catching_up(live.quiet);
  if (auto told = options.on_finding) {
    options.on_finding = [&catching_up, told](const Finding& finding) {
      catching_up.make_way();
      told(finding);
    };
  }
  ReadAhead ahead(*source.value());
  conflict::Checker checker(ahead.tables(), options);
  bool stopped = false;
  for (;;) {
    Result<std::span<const Event>> batch = ahead.next();
    if (!batch) return batch.error();
    if (batch.value().empty() || asked_to_end()) break;
    catching_up.judging(batch.value().size(), runner.running());
    if (!checker.feed(batch.value(), ahead.splits(), ahead.freed())) {
      stopped = true;
      stop_program(process, live.gdb);
      break;
    }
  }
  catching_up.make_way();
  flow.close();
  ahead.stop();
  while (runner.running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));

  LiveReport report;
  report.report = checker.report();
  report.report.complete = stopped || source.value()->complete();
  report.program = source.value()->tables().program();
  report.remarks = source.value()->remarks();
  report.unmatched = unmatched_functions(options.units, ahead.tables());
  report.unmatched_units = unmatched_units(options.units, ahead.tables());
  for (std::string& sentence : unmatched_sets(report.report.unmatched))
    report.unmatched.push_back(std::move(sentence));
  if (any_fresh(report.report.findings, known))
    add_hints(ahead.tables(), options, report.report.findings, trace.path(), bounds.hints, report.remarks);
  if (flow.waits() > 0) {
    report.remarks.push_back(
        fmt::format("the program was held back {} times until the checker had caught up", flow.waits()));
  }
  if (stood_still)
    report.remarks.push_back(
        "the checker lacked something that the program did not write while it waited for the checker "
        "(--lag); the "
        "program went on unrecorded from there");
  // A program that a script started outlives the script.
  if (asked_to_end() && !source.value()->file().ended()) kill(process, SIGKILL);
  if (!runner.outcome()) return runner.outcome().error();
  report.outcome = std::move(runner.outcome()).value();
  report.request = runner.request();
  report.stopped = stopped || asked_to_end();
  report.ended = report.outcome.sentence();
  return report;
}

}  // namespace cleave::cli
