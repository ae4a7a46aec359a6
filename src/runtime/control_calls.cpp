// System calls that may block: the thread gives the turn away and takes it back. A call that would not block keeps the
// turn; which of the two it was is noted, because a replay must do the same. Futexes are modelled like conditions.
// What is missing here (reads inside stdio, file locks) is found by the waiting threads: look_after_holder.
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "runtime/control.h"

namespace cleave::runtime {
namespace {

bool would_block(int descriptor, short events) {
  pollfd one{descriptor, events, 0};
  timespec now{};
  return system_call(SYS_ppoll, reinterpret_cast<long>(&one), 1, reinterpret_cast<long>(&now), 0, 8) == 0;
}

template <typename Call>
auto outside(ControlThread* self, Call call) {
  go_outside(self);
  auto result = call();
  int error = errno;
  come_back(self);
  errno = error;
  return result;
}

// A call on one descriptor.
template <typename Call>
auto on_descriptor(int descriptor, short events, Call call) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return call();
  point(self, CLEAVE_POINT_call_out);
  bool leaves = pin_choice(self, would_block(descriptor, events));
  return leaves ? outside(self, call) : call();
}

// A call that waits for one of many things: `look` is the same call without waiting, and says whether it is enough.
template <typename Look, typename Call>
auto on_many(bool waits, Look look, Call call) -> decltype(call()) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return call();
  point(self, CLEAVE_POINT_call_out);
  if (!waits) return call();
  if (control.replaying) return pin_choice(self, 0) ? outside(self, call) : call();
  auto result = look();
  bool leaves = pin_choice(self, result == 0);
  return leaves ? outside(self, call) : result;
}

template <typename Call>
auto always_outside(Call call) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return call();
  point(self, CLEAVE_POINT_call_out);
  return outside(self, call);
}

bool is_random_device(int descriptor) {
  struct stat about;
  if (system_call(SYS_fstat, descriptor, reinterpret_cast<long>(&about)) != 0) return false;
  return S_ISCHR(about.st_mode) && major(about.st_rdev) == 1 && (minor(about.st_rdev) == 8 || minor(about.st_rdev) == 9);
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
    deadline = absolute ? deadline_of(clock, timeout)
                        : deadline_in(*timeout);
  }
  // The value is looked at once more when nobody can run: somebody may have changed it without a wake that we see.
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
    return futex_wait(self, word, static_cast<int>(b), static_cast<int>(c), reinterpret_cast<const timespec*>(d));
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

INTERPOSE ssize_t read(int descriptor, void* bytes, size_t size) {
  ssize_t result = on_descriptor(descriptor, POLLIN, [=] { return REAL(read)(descriptor, bytes, size); });
  ControlThread* self = controlled_self();
  if (self != nullptr && result > 0 && is_random_device(descriptor))
    pin(self, CLEAVE_PINNED_RANDOM, bytes, static_cast<uint64_t>(result));
  return result;
}
INTERPOSE ssize_t recv(int socket, void* bytes, size_t size, int flags) {
  return on_descriptor(socket, POLLIN, [=] { return REAL(recv)(socket, bytes, size, flags); });
}
INTERPOSE ssize_t recvfrom(int socket, void* bytes, size_t size, int flags, sockaddr* from, socklen_t* length) {
  return on_descriptor(socket, POLLIN, [=] { return REAL(recvfrom)(socket, bytes, size, flags, from, length); });
}
INTERPOSE ssize_t recvmsg(int socket, msghdr* message, int flags) {
  return on_descriptor(socket, POLLIN, [=] { return REAL(recvmsg)(socket, message, flags); });
}
INTERPOSE int accept(int socket, sockaddr* address, socklen_t* length) {
  return on_descriptor(socket, POLLIN, [=] { return REAL(accept)(socket, address, length); });
}
INTERPOSE int accept4(int socket, sockaddr* address, socklen_t* length, int flags) {
  return on_descriptor(socket, POLLIN, [=] { return REAL(accept4)(socket, address, length, flags); });
}
INTERPOSE int connect(int socket, const sockaddr* address, socklen_t length) {
  return always_outside([=] { return REAL(connect)(socket, address, length); });
}
INTERPOSE int poll(pollfd* descriptors, nfds_t count, int milliseconds) {
  if (count == 0 && milliseconds > 0 && controlled_self() != nullptr) {
    timespec pause{milliseconds / 1000, milliseconds % 1000 * 1000000};
    return REAL(nanosleep)(&pause, nullptr);
  }
  return on_many(milliseconds != 0, [=] { return REAL(poll)(descriptors, count, 0); },
                 [=] { return REAL(poll)(descriptors, count, milliseconds); });
}
INTERPOSE int ppoll(pollfd* descriptors, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  return on_many(true, [=] { return REAL(poll)(descriptors, count, 0); },
                 [=] { return REAL(ppoll)(descriptors, count, timeout, mask); });
}
INTERPOSE int select(int count, fd_set* readable, fd_set* writable, fd_set* odd, timeval* timeout) {
  if (count == 0 && timeout != nullptr && controlled_self() != nullptr) {
    timespec pause{timeout->tv_sec, timeout->tv_usec * 1000};
    return REAL(nanosleep)(&pause, nullptr);
  }
  // The sets are overwritten, so there is no look without consequences.
  return always_outside([=] { return REAL(select)(count, readable, writable, odd, timeout); });
}
INTERPOSE int pselect(int count, fd_set* readable, fd_set* writable, fd_set* odd, const timespec* timeout,
                      const sigset_t* mask) {
  return always_outside([=] { return REAL(pselect)(count, readable, writable, odd, timeout, mask); });
}
INTERPOSE int epoll_wait(int set, epoll_event* events, int most, int milliseconds) {
  return on_many(milliseconds != 0, [=] { return REAL(epoll_wait)(set, events, most, 0); },
                 [=] { return REAL(epoll_wait)(set, events, most, milliseconds); });
}
INTERPOSE int epoll_pwait(int set, epoll_event* events, int most, int milliseconds, const sigset_t* mask) {
  return on_many(milliseconds != 0, [=] { return REAL(epoll_wait)(set, events, most, 0); },
                 [=] { return REAL(epoll_pwait)(set, events, most, milliseconds, mask); });
}
INTERPOSE int sigwait(const sigset_t* set, int* signal) {
  return always_outside([=] { return REAL(sigwait)(set, signal); });
}
INTERPOSE int pause() {
  return always_outside([=] { return REAL(pause)(); });
}
