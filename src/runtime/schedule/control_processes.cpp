// Process ids under control. What fork and getpid give is noted and given back in a replay, so there it is
// not the id that the system knows: calls that take or give an id translate.
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/schedule/control.h"

namespace cleave::runtime {
namespace {

struct Pair {
  pid_t shown, real;
};
constexpr uint32_t kPairs = 1024;
Pair pairs[kPairs];  // the newest win
uint32_t pair_count;

pid_t show(ControlThread* self, pid_t real) {
  pid_t shown = real;
  pin(self, CLEAVE_PINNED_THREAD_ID, &shown, sizeof shown);
  if (shown == real) return shown;
  ControlLock lock;
  pairs[pair_count++ % kPairs] = {shown, real};
  return shown;
}

pid_t real_of(pid_t shown) {
  for (uint32_t i = pair_count < kPairs ? pair_count : kPairs; i-- > 0;)
    if (pairs[i].shown == shown) return pairs[i].real;
  return shown;
}

pid_t shown_of(pid_t real) {
  for (uint32_t i = pair_count < kPairs ? pair_count : kPairs; i-- > 0;)
    if (pairs[i].real == real) return pairs[i].shown;
  return real;
}

template <typename Call>
pid_t wait_outside(ControlThread* self, int options, Call call) {
  point(self, CLEAVE_POINT_call_out);
  if (options & WNOHANG) return shown_of(call());
  go_outside(self);
  pid_t ended = call();
  int error = errno;
  come_back(self);
  errno = error;
  return ended > 0 ? shown_of(ended) : ended;
}

}  // namespace
}  // namespace cleave::runtime

using namespace cleave::runtime;

INTERPOSE pid_t fork() {
  ControlThread* self = controlled_self();
  if (self == nullptr) return REAL(fork)();
  ensure_turn(self);
  pid_t child = REAL(fork)();
  return child > 0 ? show(self, child) : child;
}

INTERPOSE pid_t getpid() {
  pid_t own = current_pid();
  ControlThread* self = controlled_self();
  return self != nullptr && control.holder.load() == self ? show(self, own) : own;
}

INTERPOSE int kill(pid_t process, int signal) {
  return REAL(kill)(controlled_self() != nullptr && process > 0 ? real_of(process) : process, signal);
}

INTERPOSE pid_t waitpid(pid_t child, int* status, int options) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return REAL(waitpid)(child, status, options);
  pid_t real_child = child > 0 ? real_of(child) : child;
  return wait_outside(self, options, [=] { return REAL(waitpid)(real_child, status, options); });
}

INTERPOSE pid_t wait4(pid_t child, int* status, int options, rusage* usage) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return REAL(wait4)(child, status, options, usage);
  pid_t real_child = child > 0 ? real_of(child) : child;
  return wait_outside(self, options, [=] { return REAL(wait4)(real_child, status, options, usage); });
}

INTERPOSE pid_t wait(int* status) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return REAL(wait)(status);
  return wait_outside(self, 0, [=] { return REAL(wait)(status); });
}
