// A serial run with a few switches: a thread runs until it cannot go on, except where a switch says
// otherwise. A switch names its place by the thread's own count of points, so taking one away leaves the
// others where they are. hunt/minimize.h looks for the switches that a failure needs.
#include "runtime/schedule/control.h"

namespace cleave::runtime {
namespace {

const cleave_control_switch* switches() { return entries<cleave_control_switch>(control.file->switches); }
uint64_t switch_count() { return count_of<cleave_control_switch>(control.file->switches); }

// The switch that speaks of the thread where it stands. Those that it has gone past without meeting them are
// given up: the run left the one they were taken from.
const cleave_control_switch* switch_here(ControlThread* thread, uint32_t how) {
  for (; thread->next_switch < switch_count(); ++thread->next_switch) {
    const cleave_control_switch* next = switches() + thread->next_switch;
    if (next->thread != thread->request || next->points > thread->points) return nullptr;
    if (next->points == thread->points && next->how == how) return next;
    if (next->points == thread->points && how == CLEAVE_RUN_PREEMPTED) return nullptr;
  }
  return nullptr;
}

bool switches_preempt(ControlThread* holder, Point) {
  return switch_here(holder, CLEAVE_RUN_PREEMPTED) != nullptr;
}

// A yield is an offer, and the given run may have declined it: a thread goes on unless it waits in a loop or
// has had the turn for too long.
ControlThread* choose_without_switch(ControlThread* holder, bool yields) {
  bool must = yields && holder != nullptr && (holder->spinning || holder->run_points >= kLongestRun);
  return holder != nullptr && !must ? holder : next_in_turn(holder);
}

}  // namespace

constinit const PolicyFunctions kSwitchesPolicy{switches_preempt, choose_without_switch};

void switches_new_thread(ControlThread* thread) {
  thread->next_switch = switch_count();
  for (uint64_t i = 0; i < switch_count(); ++i) {
    if (switches()[i].thread != thread->request) continue;
    thread->next_switch = i;
    return;
  }
}

ControlThread* take_switch(ControlThread* holder, uint32_t how) {
  if (holder == nullptr) return nullptr;
  const cleave_control_switch* here = switch_here(holder, how);
  if (here == nullptr) return nullptr;
  ++holder->next_switch;
  ControlThread* next = control.by_request[here->next];
  if (next == nullptr) return nullptr;
  if (next->standing == Standing::Ready) return next;
  return next->standing == Standing::Waiting && next->deadline != UINT64_MAX ? next : nullptr;
}

}  // namespace cleave::runtime
