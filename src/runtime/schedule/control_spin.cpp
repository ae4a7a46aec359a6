// Loops that wait: a thread that does exactly the same again and again, reading the same values, waits for
// another thread. It must not keep that one from running.
//
// The thread's points are hashed from one visit of a place (the anchor) to the next. When that hash repeats,
// the thread is in a loop in which nothing changes. A new anchor is taken when the old one does not come
// back. A loop that computes on private memory looks the same; giving the turn away is then needless but not
// wrong.
#include "runtime/schedule/control.h"

namespace cleave::runtime {
namespace {

constexpr uint32_t kRepeats = 8;  // before the thread counts as waiting
// Rounds in which everybody who can run waits in a loop, before that is called a livelock. With one thread it
// could be a long computation, so much more is asked for.
constexpr uint64_t kRoundsOfMany = UINT64_C(1) << 18;
constexpr uint64_t kRoundsOfOne = UINT64_C(1) << 26;

// A loop that counts its rounds never does the same twice. It is known by an atomic operation that changes
// nothing and finds the same value again and again; but one that asks whether to stop before every piece of
// work looks like that too, so it takes more.
constexpr uint32_t kPolls = 1024;
constexpr uint32_t kOtherAtomics = 64;  // elsewhere, before that counts as the place to look at
constexpr uint64_t kPollsOfMany = UINT64_C(1) << 26;

// Everybody who can run has waited in a loop for so long that nothing will come of it.
void give_up() {
  SignalsBlocked blocked;
  enter_scheduler();
  if (control.held == 0) end_process(CLEAVE_END_LIVELOCK);
  stop_plan(CLEAVE_PLAN_SPINNING, nullptr);
  control.spin_yields = control.polls = 0;
  leave_scheduler();
}

}  // namespace

void watch_polls(ControlThread* self, uint64_t old_value, uint64_t new_value) {
  bool changes = old_value != new_value;
  bool elsewhere = self->place != self->polled;
  if (elsewhere && (changes || (self->polled != nullptr && ++self->other_atomics < kOtherAtomics))) return;
  self->other_atomics = 0;
  if (elsewhere || changes || old_value != self->polled_value) {
    self->polled = changes ? nullptr : self->place;
    self->polled_value = old_value;
    self->polls = 0;
    self->polling = false;
    control.polls = 0;
    return;
  }
  if (++self->polls % kPolls != 0) return;
  self->polling = true;
  self->rest_at = self->run_points;  // others go first
  bool nothing_else =
      control.outside == 0 && control.timed_count == 0 && control.ready_count > 1 && all_ready_spin();
  control.polls = nothing_else ? control.polls + kPolls : 0;
  if (control.polls > kPollsOfMany) give_up();
}

void drop_anchor(ControlThread* self, const void* place) {
  self->anchor = place;
  self->loop_length = self->repeats = 0;
  self->loop_hash = 0;
  self->spinning = false;
  control.spin_yields = 0;
}

bool watch_loop(ControlThread* self, uint64_t weight) {
  bool same = self->loop_hash == self->last_loop_hash;
  self->last_loop_hash = self->loop_hash;
  self->loop_hash = 0;
  self->loop_length = 0;
  if (!same) {
    self->repeats = 0;
    self->spinning = false;
    control.spin_yields = 0;
    control.file->spinning = 0;
    return false;
  }
  if (++self->repeats < kRepeats) return false;
  self->spinning = true;
  if (control.outside != 0 || control.timed_count != 0) return true;
  uint64_t before = control.spin_yields, rounds = control.spin_yields += weight;
  if (before / 1024 != rounds / 1024 && all_ready_spin()) {
    control.file->spinning = 1;
    if (rounds > (control.ready_count > 1 ? kRoundsOfMany : kRoundsOfOne)) give_up();
  }
  return true;
}

}  // namespace cleave::runtime
