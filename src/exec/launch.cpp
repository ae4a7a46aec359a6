#include "exec/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>

#include "base/interrupt.h"
#include "exec/pass_on.h"

namespace cleave::exec {
namespace {

using Clock = std::chrono::steady_clock;

// The quit key of the terminal is the program's business alone while at least one runs.
class QuitIgnored {
 public:
  QuitIgnored() {
    std::lock_guard guard(mutex());
    if (count()++ != 0) return;
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGQUIT, &ignore, &saved());
  }
  ~QuitIgnored() {
    std::lock_guard guard(mutex());
    if (--count() == 0) sigaction(SIGQUIT, &saved(), nullptr);
  }
  QuitIgnored(const QuitIgnored&) = delete;
  QuitIgnored& operator=(const QuitIgnored&) = delete;

  // In the child: as it was before.
  static void restore() { sigaction(SIGQUIT, &saved(), nullptr); }

 private:
  static std::mutex& mutex() {
    static std::mutex mutex;
    return mutex;
  }
  static int& count() {
    static int count = 0;
    return count;
  }
  static struct sigaction& saved() {
    static struct sigaction action;
    return action;
  }
};

class InterruptIgnored {
 public:
  InterruptIgnored() {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &saved_);
  }
  ~InterruptIgnored() { sigaction(SIGINT, &saved_, nullptr); }
  InterruptIgnored(const InterruptIgnored&) = delete;
  InterruptIgnored& operator=(const InterruptIgnored&) = delete;

 private:
  struct sigaction saved_;
};

// Whether the interrupt key reaches the program without us: it is in the terminal's foreground group, as we
// are.
bool terminal_interrupts_it() {
  const int terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (terminal < 0) return false;
  const bool foreground = tcgetpgrp(terminal) == getpgrp();
  close(terminal);
  return foreground;
}

std::vector<std::string> environment_of(const LaunchRequest& request) {
  std::vector<std::string> entries;
  if (request.inherited) {
    for (const auto& [name, value] : *request.inherited)
      if (!request.environment.contains(name)) entries.push_back(name + "=" + value);
  }
  for (char** entry = environ; *entry != nullptr && !request.inherited; ++entry) {
    std::string_view text(*entry);
    if (text.starts_with("CLEAVE_PADDING=")) continue;  // we were started under control ourselves
    if (!request.environment.contains(std::string(text.substr(0, text.find('=')))))
      entries.emplace_back(text);
  }
  for (const auto& [name, value] : request.environment) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// After fork: only what is safe in a child of a threaded process. Tells errno through `report` if it cannot
// start.
[[noreturn]] void become(const char* path, char** words, char** environment, const LaunchRequest& request,
                         pid_t parent, int report) {
  QuitIgnored::restore();
  restore_signals_in_child();
  if (request.terminal_is_its) signal(SIGINT, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // it was gone before we could ask
  if (request.fixed_addresses)
    personality(ADDR_NO_RANDOMIZE);  // where it is not permitted, addresses just differ
  bool ready = request.directory.empty() || chdir(request.directory.c_str()) == 0;
  if (ready && request.quiet) {
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);  // the program shall find the same numbers free
    ready = nowhere >= 0 && dup2(nowhere, 1) >= 0 && dup2(nowhere, 2) >= 0;
  }
  if (ready && request.output >= 0) ready = dup2(request.output, 1) >= 0;
  const bool replaced = ready && request.checked && !request.checked->is_unchanged();
  if (ready && !replaced) execve(path, words, environment);
  int error = replaced ? ESTALE : errno;
  (void)!write(report, &error, sizeof error);
  _exit(127);
}

// Whether so many bytes came before the end.
bool read_all(int descriptor, void* into, size_t bytes) {
  ssize_t got;
  while ((got = read(descriptor, into, bytes)) < 0 && errno == EINTR) {
  }
  return got == static_cast<ssize_t>(bytes);
}

bool too_large(const LaunchRequest& request) {
  struct stat status{};
  return request.watched_limit > 0 && stat(request.watched.c_str(), &status) == 0 &&
         static_cast<uint64_t>(status.st_size) > request.watched_limit;
}

// Waits for the end of the process without reaping it: its number stays its own until nobody sends it a
// signal any more. Kills it when its time is over, when the watched file has grown too large, or when we were
// asked to end and it does not end by itself.
class Watch {
 public:
  Watch(pid_t process, const LaunchRequest& request)
      : process_(process),
        request_(request),
        descriptor_(static_cast<int>(syscall(SYS_pidfd_open, process, 0))),
        end_(request.time_limit.count() > 0 ? Clock::now() + request.time_limit : Clock::time_point::max()) {}
  ~Watch() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void run() {
    while (!ended()) {
      if (request_.on_look) request_.on_look();
      if (Clock::now() >= end_ || too_large(request_)) exceeded_ = true;
      if (exceeded_ || asked_long_ago()) {
        kill(process_, SIGKILL);
        siginfo_t ended{};
        while (waitid(P_PID, static_cast<id_t>(process_), &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
        }
        return;
      }
    }
  }
  bool exceeded() const { return exceeded_; }

 private:
  // Looks for a moment.
  bool ended() const {
    constexpr int kLook = 50, kBlind = 5;  // milliseconds
    pollfd waiting{descriptor_, POLLIN, 0};
    const Clock::duration left = end_ - Clock::now();
    const int milliseconds = descriptor_ < 0 ? kBlind : kLook;
    const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
    poll(&waiting, 1, static_cast<int>(std::clamp<int64_t>(rest + 1, 0, milliseconds)));
    siginfo_t information{};
    const int result = waitid(P_PID, static_cast<id_t>(process_), &information, WEXITED | WNOWAIT | WNOHANG);
    return (result == 0 && information.si_pid == process_) || (result < 0 && errno == ECHILD);
  }

  // A request to end is passed on once; then the program has its grace.
  bool asked_long_ago() {
    if (!interrupted() && !SignalForwarder::asked()) return false;
    if (!asked_) {
      asked_ = Clock::now();
      const int signal = interrupt_signal();
      if (signal != 0 && !(signal == SIGINT && terminal_interrupts_it())) kill(process_, signal);
    }
    return request_.grace.count() > 0 && Clock::now() - *asked_ >= request_.grace;
  }

  pid_t process_;
  const LaunchRequest& request_;
  int descriptor_;
  Clock::time_point end_;
  std::optional<Clock::time_point> asked_;
  bool exceeded_ = false;
};

LaunchOutcome wait_for(pid_t process, const LaunchRequest& request, Clock::time_point start) {
  LaunchOutcome outcome;
  int status = 0;
  rusage usage{};
  {
    std::optional<SignalForwarder> passed_on;
    if (request.pass_on) passed_on.emplace(process);
    Watch watch(process, request);
    watch.run();
    if (watch.exceeded()) outcome.end = LaunchOutcome::End::TimeLimit;
  }
  while (wait4(process, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  outcome.peak_kilobytes = usage.ru_maxrss;
  if (WIFSIGNALED(status)) {
    outcome.signal = WTERMSIG(status);
    if (outcome.end != LaunchOutcome::End::TimeLimit) outcome.end = LaunchOutcome::End::Signalled;
  } else {
    outcome.exit_status = WEXITSTATUS(status);
    outcome.end = LaunchOutcome::End::Exited;
  }
  return outcome;
}

}  // namespace

std::string padding(const std::string& path, const LaunchRequest& request) {
  constexpr size_t kWhole = 16384, kAlign = 16;
  const std::string name = "CLEAVE_PADDING=";
  std::vector<std::string> entries = environment_of(request);
  size_t bytes = path.size() + 1 + name.size() + 1;
  for (const std::string& word : request.program) bytes += word.size() + 1;
  for (const std::string& entry : entries) bytes += entry.size() + 1;
  size_t pointers = (request.program.size() + entries.size() + 1) * sizeof(char*);
  size_t total = bytes + (pointers + kAlign - 1) / kAlign * kAlign;
  return name + std::string(kWhole - total % kWhole, 'x');
}

Result<LaunchOutcome> launch(const LaunchRequest& request) {
  if (request.program.empty()) return Error{"", "no program was given; put it after --"};
  Result<std::string> path =
      find_program(request.executable.empty() ? request.program[0] : request.executable);
  if (!path) return path.error();
  std::vector<std::string> words = request.program, entries = environment_of(request);
  if (request.fixed_addresses) entries.push_back(padding(path.value(), request));
  std::vector<char*> word_pointers = pointers_to(words), entry_pointers = pointers_to(entries);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return Error{"", fmt::format("no pipe: {}", strerror(errno))};
  QuitIgnored quit;
  std::optional<InterruptIgnored> no_interrupt;
  if (request.terminal_is_its) no_interrupt.emplace();
  InterruptScope interrupts;  // what is ignored stays ignored
  Clock::time_point start = Clock::now();
  const pid_t parent = getpid();
  pid_t process = fork();
  if (process == 0)
    become(path.value().c_str(), word_pointers.data(), entry_pointers.data(), request, parent, report[1]);
  int fork_error = errno;
  close(report[1]);
  int error = 0;
  bool failed = process > 0 && read_all(report[0], &error, sizeof error);
  close(report[0]);
  if (process < 0) return Error{request.program[0], fmt::format("cannot start: {}", strerror(fork_error))};
  LaunchOutcome outcome = wait_for(process, request, start);
  if (failed && error == ESTALE)
    return Error{path.value(), "was replaced after it was checked; start the command again"};
  if (failed) return Error{request.program[0], fmt::format("cannot be executed: {}", strerror(error))};
  return outcome;
}

}  // namespace cleave::exec
