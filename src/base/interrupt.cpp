#include "base/interrupt.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <iterator>
#include <mutex>

namespace cleave {

namespace interrupt_detail {
std::atomic<int> signal_number{0};
}

namespace {

// For a signal handler, so without locks.
std::atomic<int> descriptor{-1};
static_assert(std::atomic<int>::is_always_lock_free);

std::mutex mutex;
int depth = 0;
struct sigaction before[2];  // the outermost scope

void note(int signal) {
  int none = 0;
  if (!interrupt_detail::signal_number.compare_exchange_strong(none, signal)) {
    // Asked a second time: as if nobody had caught it. It is blocked until this handler returns.
    struct sigaction usual{};
    usual.sa_handler = SIG_DFL;
    sigaction(signal, &usual, nullptr);
    raise(signal);
    return;
  }
  const int number = descriptor;
  const uint64_t one = 1;
  if (number >= 0) (void)!write(number, &one, sizeof one);
}

void on_signal(int signal) {
  const int error = errno;
  note(signal);
  errno = error;
}

}  // namespace

void interrupt(int signal) {
  int none = 0;
  if (!interrupt_detail::signal_number.compare_exchange_strong(none, signal)) return;
  const uint64_t one = 1;
  if (const int number = descriptor; number >= 0) (void)!write(number, &one, sizeof one);
}

int interrupt_descriptor() { return descriptor; }

InterruptScope::InterruptScope() {
  static_assert(std::size(kSignals) == std::size(before));
  std::lock_guard guard(mutex);
  if (descriptor < 0) descriptor = eventfd(interrupted() ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &saved_[i]);
    if (depth == 0) before[i] = saved_[i];
    if (saved_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
  ++depth;
}

InterruptScope::~InterruptScope() {
  std::lock_guard guard(mutex);
  --depth;
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &saved_[i], nullptr);
}

void restore_signals_in_child() {
  const int signals[] = {SIGINT, SIGTERM};
  if (depth == 0) return;
  for (size_t i = 0; i < std::size(signals); ++i) sigaction(signals[i], &before[i], nullptr);
}

}  // namespace cleave
