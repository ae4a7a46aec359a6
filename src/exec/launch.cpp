#include "exec/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

#include "exec/pass_on.h"

namespace cleave::exec {
namespace {

using Clock = std::chrono::steady_clock;

// Interrupt and quit are ignored while at least one program runs.
class KeysIgnored {
 public:
  KeysIgnored() {
    std::lock_guard guard(mutex());
    if (count()++ != 0) return;
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &saved(0));
    sigaction(SIGQUIT, &ignore, &saved(1));
  }
  ~KeysIgnored() {
    std::lock_guard guard(mutex());
    if (--count() != 0) return;
    sigaction(SIGINT, &saved(0), nullptr);
    sigaction(SIGQUIT, &saved(1), nullptr);
  }
  KeysIgnored(const KeysIgnored&) = delete;
  KeysIgnored& operator=(const KeysIgnored&) = delete;

  // In the child: as it was before.
  static void restore() {
    sigaction(SIGINT, &saved(0), nullptr);
    sigaction(SIGQUIT, &saved(1), nullptr);
  }

 private:
  static std::mutex& mutex() {
    static std::mutex mutex;
    return mutex;
  }
  static int& count() {
    static int count = 0;
    return count;
  }
  static struct sigaction& saved(int index) {
    static struct sigaction actions[2];
    return actions[index];
  }
};

std::vector<std::string> environment_of(const LaunchRequest& request) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
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
                         int report) {
  KeysIgnored::restore();
  if (!request.pass_on) prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (request.fixed_addresses)
    personality(ADDR_NO_RANDOMIZE);  // where it is not permitted, addresses just differ
  bool ready = request.directory.empty() || chdir(request.directory.c_str()) == 0;
  if (ready && request.quiet) {
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);  // the program shall find the same numbers free
    ready = nowhere >= 0 && dup2(nowhere, 1) >= 0 && dup2(nowhere, 2) >= 0;
  }
  if (ready) execve(path, words, environment);
  int error = errno;
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

// Kills the process when its time is over or the watched file has grown too large; told when it ended before
// that.
class TimeLimit {
 public:
  TimeLimit(pid_t process, const LaunchRequest& request) {
    if (request.time_limit.count() > 0 || request.watched_limit > 0)
      thread_ = std::thread([this, process, &request] { watch(process, request); });
  }
  ~TimeLimit() {
    {
      std::lock_guard guard(mutex_);
      over_ = true;
    }
    condition_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  bool exceeded() const { return exceeded_; }

 private:
  void watch(pid_t process, const LaunchRequest& request) {
    constexpr std::chrono::milliseconds kLook{50};
    const Clock::time_point end =
        request.time_limit.count() > 0 ? Clock::now() + request.time_limit : Clock::time_point::max();
    std::unique_lock guard(mutex_);
    while (Clock::now() < end && !too_large(request)) {
      Clock::time_point next = request.watched_limit > 0 ? std::min(end, Clock::now() + kLook) : end;
      if (condition_.wait_until(guard, next, [this] { return over_; })) return;
    }
    exceeded_ = true;
    kill(process, SIGKILL);
  }
  static bool too_large(const LaunchRequest& request) {
    struct stat status{};
    return request.watched_limit > 0 && stat(request.watched.c_str(), &status) == 0 &&
           static_cast<uint64_t>(status.st_size) > request.watched_limit;
  }
  std::mutex mutex_;
  std::condition_variable condition_;
  bool over_ = false;
  std::atomic<bool> exceeded_{false};
  std::thread thread_;
};

LaunchOutcome wait_for(pid_t process, const LaunchRequest& request, Clock::time_point start) {
  LaunchOutcome outcome;
  int status = 0;
  rusage usage{};
  {
    TimeLimit time_limit(process, request);
    std::optional<PassedOn> passed_on;
    if (request.pass_on) passed_on.emplace(process);
    // Without reaping it first: its number must stay its own until the time limit is off.
    siginfo_t information{};
    while (waitid(P_PID, static_cast<id_t>(process), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
    if (time_limit.exceeded()) outcome.end = LaunchOutcome::End::TimeLimit;
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
  KeysIgnored keys;
  Clock::time_point start = Clock::now();
  pid_t process = fork();
  if (process == 0)
    become(path.value().c_str(), word_pointers.data(), entry_pointers.data(), request, report[1]);
  int fork_error = errno;
  close(report[1]);
  int error = 0;
  bool failed = process > 0 && read_all(report[0], &error, sizeof error);
  close(report[0]);
  if (process < 0) return Error{request.program[0], fmt::format("cannot start: {}", strerror(fork_error))};
  LaunchOutcome outcome = wait_for(process, request, start);
  if (failed) return Error{request.program[0], fmt::format("cannot be executed: {}", strerror(error))};
  return outcome;
}

}  // namespace cleave::exec
