#include "exec/pass_on.h"

#include <atomic>
#include <iterator>

namespace cleave::exec {
namespace {

// For a signal handler, so without locks.
std::atomic<pid_t> target{0};
std::atomic<bool> was_asked{false};
static_assert(std::atomic<pid_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void pass_on(int signal) {
  was_asked = true;
  if (const pid_t process = target; process > 0) kill(process, signal);
}

}  // namespace

SignalForwarder::SignalForwarder(pid_t process) {
  static_assert(std::size(kSignals) == sizeof saved_ / sizeof *saved_);
  target = process;
  struct sigaction action{};
  action.sa_handler = pass_on;
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &action, &saved_[i]);
}

SignalForwarder::~SignalForwarder() {
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &saved_[i], nullptr);
  target = 0;
}

bool SignalForwarder::asked() { return was_asked; }

}  // namespace cleave::exec
