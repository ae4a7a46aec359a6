// Who asks us to end (SIGTERM, SIGHUP) asks the program that we run to end; we go on and say what there was.
#pragma once

#include <signal.h>
#include <sys/types.h>

namespace cleave::exec {

// While it lives. One at a time.
class PassedOn {
 public:
  explicit PassedOn(pid_t process);
  ~PassedOn();
  PassedOn(const PassedOn&) = delete;
  PassedOn& operator=(const PassedOn&) = delete;

  // Whether there ever was such a request: then no other program is to be started.
  static bool asked();

 private:
  static constexpr int kSignals[] = {SIGTERM, SIGHUP};
  struct sigaction saved_[2];
};

}  // namespace cleave::exec
