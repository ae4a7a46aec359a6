#include "base/apart.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <fstream>
#include <limits>
#include <mutex>
#include <optional>

#include "base/interrupt.h"

namespace cleave {
namespace {

using Clock = std::chrono::steady_clock;

// A sanitizer reserves terabytes of addresses, so no limit on them can be set.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }
  int number() const { return number_; }

 private:
  int number_;
};

bool write_all(int descriptor, const void* data, size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t put = write(descriptor, at, bytes);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += put;
    bytes -= static_cast<size_t>(put);
  }
  return true;
}

uint64_t address_space() {
  std::ifstream pages("/proc/self/statm");
  uint64_t count = 0;
  pages >> count;
  return count * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void limit(int resource, uint64_t most) {
  rlimit now{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) return;
  now.rlim_cur = std::min<rlim_t>(now.rlim_cur, most);
  setrlimit(static_cast<__rlimit_resource>(resource), &now);
}

[[noreturn]] void be_child(const std::function<void(const Send&)>& work, int messages, int errors,
                           pid_t parent, const ApartOptions& options) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it died before we asked
  struct sigaction ignore{}, usual{};
  ignore.sa_handler = SIG_IGN;
  usual.sa_handler = SIG_DFL;
  sigaction(SIGINT, &ignore, nullptr);  // the keys are for the parent, which ends us
  sigaction(SIGTERM, &usual, nullptr);
  sigaction(SIGPIPE, &usual, nullptr);
  dup2(errors, STDERR_FILENO);
  limit(RLIMIT_CORE, 0);
  if (options.memory != 0 && !kSanitized) {
    const uint64_t now = address_space();
    limit(RLIMIT_AS, now + std::min(options.memory, std::numeric_limits<uint64_t>::max() - now));
  }
  std::mutex one_at_a_time;
  try {
    work([&](std::string_view message) {
      std::lock_guard guard(one_at_a_time);
      const uint64_t bytes = message.size();
      if (!write_all(messages, &bytes, sizeof bytes) || !write_all(messages, message.data(), message.size()))
        _exit(1);
    });
  } catch (const std::exception& error) {
    (void)write_all(STDERR_FILENO, error.what(), std::strlen(error.what()));
    _exit(1);
  }
  _exit(0);
}

// Messages out of the bytes that come, whole ones only.
class Messages {
 public:
  explicit Messages(const std::function<void(std::string_view)>& take) : take_(take) {}

  void add(std::string_view bytes) {
    pending_.append(bytes);
    size_t at = 0;
    for (uint64_t length = 0; pending_.size() - at >= sizeof length; at += sizeof length + length) {
      std::memcpy(&length, pending_.data() + at, sizeof length);
      if (pending_.size() - at - sizeof length < length) break;
      take_(std::string_view(pending_).substr(at + sizeof length, length));
    }
    pending_.erase(0, at);
  }

 private:
  const std::function<void(std::string_view)>& take_;
  std::string pending_;
};

// Until the child closes its end. Why it has to be killed, if it has.
std::optional<ApartEnd::How> receive(int from, Messages& messages, Clock::time_point until) {
  char buffer[1 << 16];
  for (;;) {
    if (interrupted()) return ApartEnd::How::Interrupted;
    pollfd waiting[2] = {{from, POLLIN, 0}, {interrupt_descriptor(), POLLIN, 0}};  // -1 is left out
    int milliseconds = -1;
    if (until != Clock::time_point::max()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
      if (left <= 0) return ApartEnd::How::TimeLimit;
      milliseconds = static_cast<int>(std::min<int64_t>(left, 1'000'000));
    }
    if (poll(waiting, 2, milliseconds) < 0 && errno != EINTR) return std::nullopt;
    if ((waiting[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    const ssize_t got = read(from, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    messages.add({buffer, static_cast<size_t>(got)});
  }
}

std::string first_line(int descriptor) {
  char text[512];
  const ssize_t got = pread(descriptor, text, sizeof text, 0);
  std::string_view line(text, got > 0 ? static_cast<size_t>(got) : 0);
  return std::string(line.substr(0, line.find('\n')));
}

uint64_t number_in(const std::string& path) {
  std::ifstream file(path);
  uint64_t number = 0;
  return file >> number ? number : std::numeric_limits<uint64_t>::max();
}

// What is left below the limits of this process's control group (version 2) and those above it.
uint64_t left_in_groups() {
  uint64_t least = std::numeric_limits<uint64_t>::max();
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::/")) continue;
    for (std::string path = line.substr(3);; path.erase(path.rfind('/'))) {
      const std::string folder = "/sys/fs/cgroup" + path;
      const uint64_t most = number_in(folder + "/memory.max"), used = number_in(folder + "/memory.current");
      if (most != std::numeric_limits<uint64_t>::max() && used != std::numeric_limits<uint64_t>::max())
        least = std::min(least, most > used ? most - used : 0);
      if (path.empty() || path == "/" || path.rfind('/') == std::string::npos) break;
    }
  }
  return least;
}

}  // namespace

uint64_t available_memory() {
  uint64_t available = left_in_groups();
  std::ifstream facts("/proc/meminfo");
  for (std::string word; facts >> word; facts.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    uint64_t kilobytes = 0;
    if (word == "MemAvailable:" && facts >> kilobytes) available = std::min(available, kilobytes << 10);
  }
  return available;
}

std::string ApartEnd::sentence() const {
  std::string text;
  switch (how) {
    case How::Finished:
      return "finished";
    case How::Signalled:
      text = "signal " + std::to_string(number) + " (" + strsignal(number) + ")";
      break;
    case How::Exited:
      text = "exit status " + std::to_string(number);
      break;
    case How::TimeLimit:
      text = "time limit";
      break;
    case How::Interrupted:
      text = "interrupted";
      break;
  }
  return said.empty() ? text : text + ": " + said;
}

Result<ApartEnd> run_apart(const std::function<void(const Send&)>& work,
                           const std::function<void(std::string_view)>& take, const ApartOptions& options) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Error{"", std::string("no pipe: ") + std::strerror(errno)};
  Descriptor from(ends[0]), to(ends[1]);
  Descriptor errors(memfd_create("cleave-errors", MFD_CLOEXEC));
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return Error{"", std::string("no further process can be started: ") + std::strerror(errno)};
  if (child == 0) be_child(work, to.number(), errors.number(), parent, options);
  to.close();
  Messages messages(take);
  const auto until =
      options.time_limit.count() > 0 ? Clock::now() + options.time_limit : Clock::time_point::max();
  const std::optional<ApartEnd::How> stopped = receive(from.number(), messages, until);
  if (stopped) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ApartEnd end;
  if (stopped) {
    end.how = *stopped;
  } else if (WIFSIGNALED(status)) {
    end.how = ApartEnd::How::Signalled;
    end.number = WTERMSIG(status);
  } else if (WEXITSTATUS(status) != 0) {
    end.how = ApartEnd::How::Exited;
    end.number = WEXITSTATUS(status);
  }
  if (end.how == ApartEnd::How::Signalled || end.how == ApartEnd::How::Exited)
    end.said = first_line(errors.number());
  return end;
}

}  // namespace cleave
