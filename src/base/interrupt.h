// A request to end (SIGINT, SIGTERM), as a flag that long loops look at.
//
// The first signal only sets the flag: the work under way stops at its next look, and the command reports
// what it has found until then. The second signal ends the process at once, as the system would have done.
//
// One flag for the process, set once and never cleared, so that a command of several steps starts no further
// step. Looking at it costs one relaxed load.
#pragma once

#include <signal.h>

#include <atomic>

namespace cleave {

namespace interrupt_detail {
extern std::atomic<int> signal_number;
}

// The number of the first signal that asked us to end; 0 if none did.
inline int interrupt_signal() { return interrupt_detail::signal_number.load(std::memory_order_relaxed); }
inline bool interrupted() { return interrupt_signal() != 0; }

// As if the signal had come: for what is told in another way, and for tests.
void interrupt(int signal);

// Readable (poll, POLLIN) once interrupted() is true, and never read by anybody: for those who wait. -1 while
// no InterruptScope was ever made.
int interrupt_descriptor();

// While it lives, SIGINT and SIGTERM set the flag. A signal that was ignored before (nohup, a background job
// of a shell without job control) stays ignored. Scopes may nest; the outermost decides. System calls are
// restarted: whoever blocks for long must poll interrupt_descriptor().
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM};
  struct sigaction saved_[2];
};

// In a child after fork, before execve: the actions that were there before the outermost scope. Safe in a
// child of a threaded process.
void restore_signals_in_child();

}  // namespace cleave
