// System calls that wait for the process's own threads, or for signals. Futexes are modelled like conditions.
// Calls that may block and are not known here, in control_sockets.cpp or in control_polls.cpp (reads inside
// stdio, file locks) are found by the waiting threads: look_after_holder.
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdarg.h>

#include "runtime/schedule/control_outside.h"

namespace cleave::runtime {
namespace {

template <typename Call>
auto always_outside(Call call) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return call();
  point(self, CLEAVE_POINT_call_out);
  return outside(self, call);
}

long failed(int error) {
  errno = error;
  return -1;
}

long futex_wait(ControlThread* self, int* word, int operation, int expected, const timespec* timeout) {
  point(self, CLEAVE_POINT_futex_wait);
  if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != expected) return failed(EAGAIN);
  uint64_t deadline = UINT64_MAX;
  if (timeout != nullptr) {
    bool absolute = (operation & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
    clockid_t clock = operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    deadline = absolute ? deadline_of(clock, timeout) : deadline_in(*timeout);
  }
  // The value is looked at once more when nobody can run: somebody may have changed it without a wake that we
  // see.
  for (;;) {
    block(self, CLEAVE_POINT_futex_wait, word, deadline);
    if (self->woken) return 0;
    if (self->timed_out) return failed(ETIMEDOUT);
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != expected) return 0;
  }
}

long futex(ControlThread* self, long a, long b, long c, long d, long e, long f) {
  int operation = static_cast<int>(b) & FUTEX_CMD_MASK;
  auto* word = reinterpret_cast<int*>(a);
  if (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET)
    return futex_wait(self, word, static_cast<int>(b), static_cast<int>(c),
                      reinterpret_cast<const timespec*>(d));
  if (operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET) {
    point(self, CLEAVE_POINT_futex_wake);
    uint32_t woken = wake(word, static_cast<uint32_t>(c));
    return static_cast<long>(woken);
  }
  return always_outside([=] {
    long result = system_call(SYS_futex, a, b, c, d, e, f);
    return result < 0 && result > -4096 ? failed(static_cast<int>(-result)) : result;
  });
}

}  // namespace
}  // namespace cleave::runtime

using namespace cleave::runtime;

INTERPOSE long syscall(long number, ...) {
  va_list more;
  va_start(more, number);
  long a = va_arg(more, long), b = va_arg(more, long), c = va_arg(more, long), d = va_arg(more, long),
       e = va_arg(more, long), f = va_arg(more, long);
  va_end(more);
  ControlThread* self = controlled_self();
  if (self != nullptr && number == SYS_futex) return futex(self, a, b, c, d, e, f);
  if (self != nullptr && number == SYS_gettid) return gettid();
  long result = system_call(number, a, b, c, d, e, f);
  return result < 0 && result > -4096 ? failed(static_cast<int>(-result)) : result;
}

INTERPOSE int sched_yield() {
  if (control.noise) make_noise(CLEAVE_POINT_yield);
  ControlThread* self = controlled_self();
  if (self == nullptr) return REAL(sched_yield)();
  point(self, CLEAVE_POINT_yield, nullptr, true);
  return 0;
}

INTERPOSE int sigwait(const sigset_t* set, int* signal) {
  return always_outside([=] { return REAL(sigwait)(set, signal); });
}
INTERPOSE int pause() {
  return always_outside([=] { return REAL(pause)(); });
}
