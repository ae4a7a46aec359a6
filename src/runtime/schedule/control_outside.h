// What calls that may block, or that bring something from another process, have in common under control.
#pragma once

#include <errno.h>

#include "runtime/schedule/control.h"

namespace cleave::runtime {

// The answer of a system call whose effect lies outside the process, as it is noted. What it brought follows.
struct Answer {
  int64_t result;
  int32_t error;
  uint32_t more;  // of the call's own
};
static_assert(sizeof(Answer) == 16);

bool would_block(int descriptor, short events);

// Sockets that lead to other processes, and a terminal or pipe that the program was started with as its
// input. Pipes and pairs of sockets that it made itself lead nowhere else: what comes through them follows
// from the schedule.
bool is_outside(int descriptor);
void mark_outside(int descriptor);
void forget_descriptor(int descriptor);  // it is closed

// The numbers of descriptors depend on how many the program was started with: in a replay as many as then.
void pin_descriptors(ControlThread* self);

// The call is made without the turn.
template <typename Call>
auto outside(ControlThread* self, Call call) {
  go_outside(self);
  auto result = call();
  int error = errno;
  come_back(self);
  errno = error;
  return result;
}

// A call on one descriptor that stays within the process.
template <typename Call>
auto on_descriptor(int descriptor, short events, Call call) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return call();
  point(self, CLEAVE_POINT_call_out);
  bool leaves = pin_choice(self, would_block(descriptor, events));
  return leaves ? outside(self, call) : call();
}

// The answer of a call outside: made and noted, or in a replay not made and given back.
template <typename Call>
Answer answer_of(ControlThread* self, bool leaves, Call call) {
  Answer answer{};
  if (leaves) go_outside(self);
  if (!control.replaying) answer = {static_cast<int64_t>(call()), errno, 0};
  if (leaves) come_back(self);
  pin(self, CLEAVE_PINNED_INPUT, &answer, sizeof answer);
  errno = answer.error;
  return answer;
}

// The same for one descriptor; gives the turn away if it would block.
template <typename Call>
Answer ask(ControlThread* self, int descriptor, short events, Call call) {
  point(self, CLEAVE_POINT_call_out);
  bool leaves = pin_choice(self, !control.replaying && would_block(descriptor, events));
  return answer_of(self, leaves, call);
}

// What such a call brought, if anything.
inline void take(ControlThread* self, void* bytes, int64_t size) {
  if (bytes != nullptr && size > 0) pin(self, CLEAVE_PINNED_INPUT, bytes, static_cast<uint64_t>(size));
}

}  // namespace cleave::runtime
