// Waiting for one of many descriptors. A call that finds something at once keeps the turn, any other gives it
// away. What it said is noted: in a replay nobody is asked.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "runtime/schedule/control_outside.h"

namespace cleave::runtime {
namespace {

// `look` is the same call without waiting.
template <typename Look, typename Call>
Answer ask_many(ControlThread* self, bool waits, Look look, Call call) {
  point(self, CLEAVE_POINT_call_out);
  if (!waits) return answer_of(self, false, call);
  int found = control.replaying ? 0 : look();
  int error = errno;
  bool leaves = pin_choice(self, !control.replaying && found == 0);
  if (leaves) return answer_of(self, true, call);
  return answer_of(self, false, [=] {
    errno = error;
    return found;
  });
}

int sleep_instead(uint64_t nanoseconds) {
  timespec pause{static_cast<time_t>(nanoseconds / 1000000000), static_cast<long>(nanoseconds % 1000000000)};
  return REAL(nanosleep)(&pause, nullptr);
}

template <typename Call>
int poll_outside(pollfd* descriptors, nfds_t count, bool waits, Call call) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return call();
  Answer answer = ask_many(self, waits, [=] { return REAL(poll)(descriptors, count, 0); }, call);
  if (control.replaying && answer.result == 0)
    for (nfds_t i = 0; i < count; ++i) descriptors[i].revents = 0;
  if (answer.result > 0)
    for (nfds_t i = 0; i < count; ++i) take(self, &descriptors[i].revents, sizeof descriptors[i].revents);
  return static_cast<int>(answer.result);
}

template <typename Call>
int select_outside(fd_set* readable, fd_set* writable, fd_set* odd, int count, Call call) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return call();
  // The sets are overwritten, so there is no look without consequences.
  point(self, CLEAVE_POINT_call_out);
  Answer answer = answer_of(self, true, call);
  int64_t bytes = (count + 63) / 64 * 8;
  if (answer.result >= 0)
    for (fd_set* set : {readable, writable, odd}) take(self, set, bytes);
  return static_cast<int>(answer.result);
}

// What a program hangs on a descriptor in an epoll set may be an address, which a replay does not share: then
// the descriptor is noted in its place.
struct Registered {
  int set, descriptor;
  uint64_t data;
};
constexpr uint32_t kRegistered = 4096;
Registered registered[kRegistered];  // by the holder
uint32_t registered_count;

Registered* find_registered(int set, int descriptor) {
  for (uint32_t i = 0; i < registered_count; ++i)
    if (registered[i].set == set && registered[i].descriptor == descriptor) return &registered[i];
  return nullptr;
}

int descriptor_of(int set, uint64_t data) {
  for (uint32_t i = 0; i < registered_count; ++i)
    if (registered[i].set == set && registered[i].data == data) return registered[i].descriptor;
  return -1;
}

void note_registration(int set, int operation, int descriptor, const epoll_event* event) {
  Registered* known = find_registered(set, descriptor);
  if (operation == EPOLL_CTL_DEL) {
    if (known != nullptr) *known = registered[--registered_count];
    return;
  }
  if (known == nullptr && registered_count < kRegistered) known = &registered[registered_count++];
  if (known != nullptr) *known = {set, descriptor, event->data.u64};
}

void take_event(ControlThread* self, int set, epoll_event& event) {
  struct {
    uint32_t events;
    int32_t descriptor;
    uint64_t data;
  } noted{event.events, -1, event.data.u64};
  if (!control.replaying && noted.data > UINT32_MAX) noted.descriptor = descriptor_of(set, noted.data);
  take(self, &noted, sizeof noted);
  event.events = noted.events;
  event.data.u64 = noted.data;
  if (noted.descriptor < 0) return;
  if (const Registered* known = find_registered(set, noted.descriptor)) event.data.u64 = known->data;
}

template <typename Call>
int epoll_outside(int set, epoll_event* events, int most, bool waits, Call call) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return call();
  Answer answer = ask_many(self, waits, [=] { return REAL(epoll_wait)(set, events, most, 0); }, call);
  for (int64_t i = 0; i < answer.result; ++i) take_event(self, set, events[i]);
  return static_cast<int>(answer.result);
}

}  // namespace
}  // namespace cleave::runtime

using namespace cleave::runtime;

INTERPOSE int poll(pollfd* descriptors, nfds_t count, int milliseconds) {
  if (count == 0 && milliseconds > 0 && controlled_self() != nullptr)
    return sleep_instead(static_cast<uint64_t>(milliseconds) * 1000000);
  return poll_outside(descriptors, count, milliseconds != 0,
                      [=] { return REAL(poll)(descriptors, count, milliseconds); });
}
INTERPOSE int ppoll(pollfd* descriptors, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  return poll_outside(descriptors, count, true,
                      [=] { return REAL(ppoll)(descriptors, count, timeout, mask); });
}
INTERPOSE int select(int count, fd_set* readable, fd_set* writable, fd_set* odd, timeval* timeout) {
  if (count == 0 && timeout != nullptr && controlled_self() != nullptr)
    return sleep_instead(static_cast<uint64_t>(timeout->tv_sec) * 1000000000 +
                         static_cast<uint64_t>(timeout->tv_usec) * 1000);
  return select_outside(readable, writable, odd, count,
                        [=] { return REAL(select)(count, readable, writable, odd, timeout); });
}
INTERPOSE int pselect(int count, fd_set* readable, fd_set* writable, fd_set* odd, const timespec* timeout,
                      const sigset_t* mask) {
  return select_outside(readable, writable, odd, count,
                        [=] { return REAL(pselect)(count, readable, writable, odd, timeout, mask); });
}
INTERPOSE int epoll_ctl(int set, int operation, int descriptor, epoll_event* event) {
  ControlThread* self = controlled_self();
  if (self != nullptr) ensure_turn(self);
  int result = REAL(epoll_ctl)(set, operation, descriptor, event);
  if (self != nullptr && result == 0) note_registration(set, operation, descriptor, event);
  return result;
}
INTERPOSE int epoll_wait(int set, epoll_event* events, int most, int milliseconds) {
  return epoll_outside(set, events, most, milliseconds != 0,
                       [=] { return REAL(epoll_wait)(set, events, most, milliseconds); });
}
INTERPOSE int epoll_pwait(int set, epoll_event* events, int most, int milliseconds, const sigset_t* mask) {
  return epoll_outside(set, events, most, milliseconds != 0,
                       [=] { return REAL(epoll_pwait)(set, events, most, milliseconds, mask); });
}
