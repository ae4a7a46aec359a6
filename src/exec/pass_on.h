// When our terminal goes (SIGHUP), the program that we run is told too; we go on and say what there was.
// SIGINT and SIGTERM are for base/interrupt.h, and launch() passes them on.
#pragma once

#include <signal.h>
#include <sys/types.h>

namespace cleave::exec {

// While it lives. One at a time.
class SignalForwarder {
 public:
  explicit SignalForwarder(pid_t process);
  ~SignalForwarder();
  SignalForwarder(const SignalForwarder&) = delete;
  SignalForwarder& operator=(const SignalForwarder&) = delete;

  // Whether there ever was such a request: then no other program is to be started.
  static bool asked();

 private:
  static constexpr int kSignals[] = {SIGHUP};
  struct sigaction saved_[1];
};

}  // namespace cleave::exec
