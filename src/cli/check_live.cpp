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
#include <mutex>
#include <optional>
#include <thread>

#include "abi/trace_file.h"
#include "base/progress.h"
#include "base/temporary.h"
#include "base/trace_files.h"
#include "cli/check_hints.h"
#include "cli/check_source.h"
#include "cli/units_and_sets.h"
#include "exec/launch.h"
#include "exec/pass_on.h"
#include "exec/run.h"
#include "trace/read_ahead.h"
#include "trace/reader.h"

namespace cleave::cli {
namespace {

// Bytes of trace that are gone through again: a second or two. Raw records are about five times as long.
constexpr uint64_t kHintsUpTo = 32u << 20, kHintsUpToRaw = 128u << 20;
uint64_t hints_up_to(const LiveOptions& live) { return live.trace.empty() ? kHintsUpToRaw : kHintsUpTo; }

// The file that the program writes and we read; goes with us unless it is to be kept.
class LiveTrace {
 public:
  explicit LiveTrace(const LiveOptions& live) : kept_(!live.trace.empty()) {
    if (kept_) {
      path_ = std::filesystem::absolute(live.trace).string();
      ready_ = prepare_trace(path_);
      return;
    }
    path_ = memory_pattern("check", live.allowed_lag + hints_up_to(live));
    int descriptor = mkstemp(path_.data());
    if (descriptor >= 0) close(descriptor);
  }
  ~LiveTrace() { remove(); }
  LiveTrace(const LiveTrace&) = delete;
  LiveTrace& operator=(const LiveTrace&) = delete;

  // Whether the program will be able to write it.
  const Status& ready() const { return ready_; }
  // Also those of processes that the program made by fork, which have its name and their number.
  void remove() const {
    if (kept_) return;
    remove_trace(path_);
  }
  const std::string& path() const { return path_; }
  uint64_t size() const {
    struct stat facts{};
    return stat(path_.c_str(), &facts) == 0 ? static_cast<uint64_t>(facts.st_size) : 0;
  }

 private:
  bool kept_;
  std::string path_;
  Status ready_ = Done{};
};

// Runs the program in a thread of its own, so that this one can follow.
class Runner {
 public:
  Runner(const ProgramLine& program, const LiveOptions& live, const std::string& trace)
      : thread_([this, program, live, trace] { run(program, live, trace); }) {}
  ~Runner() { thread_.join(); }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  bool running() const { return !done_.load(std::memory_order_acquire); }
  // After it is done: how it ended, or why it could not run.
  const Result<std::string>& outcome() const { return outcome_; }

 private:
  void run(const ProgramLine& program, const LiveOptions& live, const std::string& trace) {
    if (live.policy == Policy::Free) {
      exec::LaunchRequest request;
      request.program = program;
      request.environment[exec::kTraceVariable] = trace;
      if (live.trace.empty()) request.environment[CLEAVE_TRACE_RAW_VARIABLE] = "1";
      Result<exec::LaunchOutcome> ended = exec::launch(request);
      outcome_ = ended ? Result<std::string>(sentence(ended.value())) : Result<std::string>(ended.error());
    } else {
      exec::RunRequest request;
      request.program = program;
      request.policy = live.policy;
      request.seed = live.seed;
      request.trace = trace;
      if (live.trace.empty()) request.environment[CLEAVE_TRACE_RAW_VARIABLE] = "1";
      Result<exec::RunOutcome> ended = exec::run(request);
      outcome_ = ended ? Result<std::string>(ended.value().sentence()) : Result<std::string>(ended.error());
    }
    done_.store(true, std::memory_order_release);
  }
  static std::string sentence(const exec::LaunchOutcome& ended) {
    if (ended.end == exec::LaunchOutcome::End::Exited)
      return fmt::format("exit status {}", ended.exit_status);
    return fmt::format("signal {} ({})", ended.signal, strsignal(ended.signal));
  }

  std::atomic<bool> done_{false};
  Result<std::string> outcome_ = std::string();
  std::thread thread_;
};

// Holds the program back when we are too far behind it. Whoever reads uses it; who judges may retire it.
class BackPressure {
 public:
  BackPressure(const LiveTrace& trace, uint64_t allowed) : trace_(trace), allowed_(allowed) {}
  // Whatever happens to us, the program is not left standing.
  ~BackPressure() {
    std::lock_guard guard(mutex_);
    let_go();
  }
  BackPressure(const BackPressure&) = delete;
  BackPressure& operator=(const BackPressure&) = delete;

  void watch(pid_t process) { process_ = process; }
  // We have read everything that was there.
  void caught_up() {
    std::lock_guard guard(mutex_);
    read_ = trace_.size();
    let_go();
  }
  void look() {
    std::lock_guard guard(mutex_);
    if (holding_ || process_ <= 0 || trace_.size() - read_ <= allowed_) return;
    holding_ = kill(process_, SIGSTOP) == 0;
    held_ += holding_;
  }
  // The program is somebody else's from now on, stopped or not.
  void retire() {
    std::lock_guard guard(mutex_);
    process_ = 0;
    holding_ = false;
  }
  uint64_t times_held() const { return held_; }

 private:
  void let_go() {
    if (holding_) kill(process_, SIGCONT);
    holding_ = false;
  }

  std::mutex mutex_;
  const LiveTrace& trace_;
  uint64_t allowed_, read_ = 0, held_ = 0;
  pid_t process_ = 0;
  bool holding_ = false;
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
  options.stop_at_first = live.stop;
  LiveTrace trace(live);
  if (!trace.ready()) return trace.ready().error();
  Runner runner(program, live, trace.path());
  if (!wait_for_trace(trace, runner)) {
    if (!runner.outcome()) return runner.outcome().error();
    return Error{program[0], "nothing was recorded: it started no program that was built with Cleave"};
  }
  BackPressure pressure(trace, live.allowed_lag);
  ReadOptions reading;
  reading.writer_alive = [&] {
    pressure.caught_up();
    return runner.running();
  };
  reading.reuse_ids = true;
  reading.stretches = takes_stretches(options);
  if (live.trace.empty()) reading.erase_beyond = hints_up_to(live);
  Result<std::unique_ptr<BinarySource>> source = open_binary_trace(trace.path(), reading);
  if (!source) return source.error();
  auto process = static_cast<pid_t>(source.value()->file().process_id());
  pressure.watch(process);
  exec::PassedOn passed_on(process);

  CatchingUp catching_up(live.quiet);
  if (auto told = options.on_finding) {
    options.on_finding = [&catching_up, told](const Finding& finding) {
      catching_up.make_way();
      told(finding);
    };
  }
  ReadAhead ahead(*source.value(), [&] { pressure.look(); });
  conflict::Checker checker(ahead.tables(), options);
  bool stopped = false;
  for (;;) {
    Result<std::span<const Event>> batch = ahead.next();
    if (!batch) return batch.error();
    if (batch.value().empty()) break;
    catching_up.judging(batch.value().size(), runner.running());
    if (!checker.feed(batch.value(), ahead.splits(), ahead.freed())) {
      stopped = true;
      pressure.retire();
      stop_program(process, live.gdb);
      break;
    }
  }
  catching_up.make_way();
  ahead.stop();
  pressure.caught_up();
  while (runner.running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));

  LiveReport report;
  report.report = checker.report();
  report.report.complete = stopped || source.value()->complete();
  report.program = source.value()->tables().program();
  report.remarks = source.value()->remarks();
  report.unmatched = unmatched_functions(options.units, ahead.tables());
  for (std::string& sentence : unmatched_sets(report.report.unmatched))
    report.unmatched.push_back(std::move(sentence));
  if (any_fresh(report.report.findings, known))
    add_hints(ahead.tables(), options, report.report.findings, trace.path(), hints_up_to(live),
              report.remarks);
  if (pressure.times_held() > 0) {
    report.remarks.push_back(fmt::format("the program was held back {} times until the checker had caught up",
                                         pressure.times_held()));
  }
  if (!runner.outcome()) return runner.outcome().error();
  report.ended = runner.outcome().value();
  return report;
}

}  // namespace cleave::cli
