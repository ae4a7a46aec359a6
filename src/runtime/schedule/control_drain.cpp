// The end of a program whose threads could go on. Running free, they would be cut off somewhere; under
// control that is always the same place, and what they had yet to do is never seen. So whoever ends the
// process lets them go on until they have ended, wait, or have come to so many points.
#include "runtime/record/state.h"
#include "runtime/schedule/control.h"
#include "runtime/schedule/control_point.h"

namespace cleave::runtime {
namespace {

constexpr uint64_t kDrainPoints = 1000000;
constexpr uint64_t kDrainNanoseconds =
    1000000000;  // of virtual time: threads that work now and then never end

std::atomic<bool> drained{false};

}  // namespace

void control_drain() {
  ControlThread* self = controlled_self();
  if (self == nullptr || current_thread == nullptr || current_thread->handler_depth != 0) return;
  ensure_turn(self);
  if (control.thread_count - control.ended <= 1) return;
  absorb(self);
  bool asked = control.replaying ? replay_drains(self) : (control.file->flags & CLEAVE_CONTROL_NO_DRAIN) == 0;
  if (!asked || drained.exchange(true)) return;
  control.draining = self;
  control.drain_until = control.points.load(std::memory_order_relaxed) + kDrainPoints;
  control.drain_deadline = virtual_now() + kDrainNanoseconds;
  block(self, CLEAVE_POINT_drain, &control);
  control.draining = nullptr;
}

bool drain_is_spent() {
  return __builtin_expect(control.draining != nullptr, 0) &&
         control.points.load(std::memory_order_relaxed) >= control.drain_until;
}

ControlThread* end_drain() {
  ControlThread* thread = control.draining;
  control.draining = nullptr;
  control.drain_deadline = UINT64_MAX;
  force_ready(thread);
  return thread;
}

}  // namespace cleave::runtime
