// Following a plan (AtomChase II-A): a thread that comes to a milestone before its turn is held, the thread
// of the next milestone goes first, and whoever has what it waits for helps. When only held threads are left
// the plan is given up: all go on, so that the trace is useful.
#include <string.h>

#include "runtime/record/message.h"
#include "runtime/record/system.h"
#include "runtime/schedule/control.h"
#include "runtime/schedule/control_places.h"

// Where a debugger stops. Never inlined, never folded with another empty function.
extern "C" __attribute__((visibility("default"), noinline)) void __cleave_milestone(unsigned number) {
  __asm__ volatile("" : : "r"(number) : "memory");
}

namespace cleave::runtime {
namespace {

cleave_control_milestone* milestones;
uint32_t* next_of_thread;  // next milestone of the same thread
uint32_t group_count;

// Under the lock: the thread of the next milestone may go on if it is held there.
void release_next() {
  control.file->plan_reached = control.plan_next;
  control.spin_yields = 0;
  if (control.plan_next == control.plan_total) {
    stop_plan(CLEAVE_PLAN_COMPLETE, nullptr);
    return;
  }
  ControlThread* thread = control.by_request[milestones[control.plan_next].thread];
  if (thread != nullptr && thread->standing == Standing::Held && thread->milestone == control.plan_next) {
    --control.held;
    make_ready(thread);
  }
  control.reconsider = true;
}

bool plan_preempts(ControlThread*, Point) { return control.reconsider; }

// The thread of the next milestone; if it waits, whoever has what it waits for; else anybody.
ControlThread* plan_choose(ControlThread* holder, bool yields) {
  if (!control.planning)
    return holder != nullptr && holder->standing == Standing::Ready && !yields ? holder
                                                                               : next_in_turn(holder);
  ControlThread* wanted = control.by_request[milestones[control.plan_next].thread];
  for (uint32_t hops = 0; wanted != nullptr && hops < 64; ++hops) {
    if (wanted->standing == Standing::Ready && !wanted->waits_in_loop()) return wanted;
    if (wanted->standing != Standing::Waiting) break;
    wanted = has_object(wanted);
  }
  if (holder != nullptr && holder->standing == Standing::Ready && !yields) return holder;
  return next_in_turn(holder);
}

}  // namespace

bool watches_milestones() { return control.planning || control.watching; }

constinit const PolicyFunctions kPlanPolicy{plan_preempts, plan_choose};

void start_plan() {
  cleave_control_header* file = control.file;
  control.plan_total = static_cast<uint32_t>(count_of<cleave_control_milestone>(file->milestones));
  milestones = entries<cleave_control_milestone>(file->milestones);
  start_places();
  next_of_thread =
      static_cast<uint32_t*>(map_memory((control.plan_total + 1) * sizeof(uint32_t), Purpose::Asked));
  if (next_of_thread == nullptr) fail("no memory for the plan");
  for (uint32_t i = 0; i < control.plan_total; ++i) {
    if (milestones[i].group >= group_count) group_count = milestones[i].group + 1;
    next_of_thread[i] = CLEAVE_NO_PLACE;
    for (uint32_t k = i + 1; k < control.plan_total && next_of_thread[i] == CLEAVE_NO_PLACE; ++k)
      if (milestones[k].thread == milestones[i].thread) next_of_thread[i] = k;
  }
  control.watching = control.replaying && control.plan_total != 0;
  if (control.planning && control.plan_total == 0) stop_plan(CLEAVE_PLAN_COMPLETE, nullptr);
}

void plan_new_thread(ControlThread* thread) {
  if (thread->request == CLEAVE_NO_PLACE || !watches_milestones()) return;
  for (uint32_t i = 0; i < control.plan_total; ++i) {
    if (milestones[i].thread != thread->request) continue;
    thread->milestone = i;
    break;
  }
  thread->not_arrived = thread->milestone;
  if (thread->milestone == CLEAVE_NO_PLACE) return;
  thread->visits = static_cast<uint32_t*>(map_memory((group_count + 1) * sizeof(uint32_t), Purpose::Asked));
  if (thread->visits == nullptr) fail("no memory for the plan");
}

// The thread is at its next milestone: it waits until that is the plan's next too.
namespace {

void reach_milestone(ControlThread* self) {
  uint32_t number = self->milestone;
  if (control.watching) {
    self->milestone = next_of_thread[number];
    return __cleave_milestone(number);
  }
  while (control.planning && control.plan_next != number) hold(self);
  if (!control.planning) return;
  if (milestones[number].has_value) self->check = number;
  self->keeps_turn = true;
  ControlLock lock;
  self->milestone = next_of_thread[number];
  ++control.plan_next;
  release_next();
}

// The thread's next milestone that it has not come to is in this segment, and it is the right time.
bool arrives(ControlThread* self, const cleave_segment* segment) {
  if (self->not_arrived == CLEAVE_NO_PLACE) return false;
  const cleave_control_milestone& mine = milestones[self->not_arrived];
  return mine.occurrence == self->visits[mine.group] && in_group(segment, mine.group);
}

void count_visit(ControlThread* self, const cleave_segment* segment) {
  PlacesOf places(segment);
  for (uint32_t group = 0; places.next(&group);) ++self->visits[group];
}

}  // namespace

void plan_pass(ControlThread* self, const cleave_segment* segment) {
  if (self->milestone == CLEAVE_NO_PLACE) return;
  count_visit(self, segment);
  while (arrives(self, segment)) self->not_arrived = next_of_thread[self->not_arrived];
}

void plan_point(ControlThread* self, const cleave_segment* segment) {
  // Calls that it came to since the last point: the one it is in, or one that had no point and is over.
  while (self->milestone != self->not_arrived && watches_milestones()) reach_milestone(self);
  if (self->milestone == CLEAVE_NO_PLACE || segment == nullptr) return;
  count_visit(self, segment);
  // Several milestones may lie in one segment: its accesses come first, then the call that ends it.
  while (arrives(self, segment) && watches_milestones()) {
    bool at_call = milestones[self->not_arrived].at_call;
    self->not_arrived = next_of_thread[self->not_arrived];
    if (!at_call) reach_milestone(self);
  }
}

void plan_check_value(ControlThread* self) {
  const cleave_control_milestone& milestone = milestones[self->check];
  self->check = CLEAVE_NO_PLACE;
  if (self->value_words != 1 || self->value == milestone.value) return;
  ControlLock lock;
  control.file->plan_value = self->value;
  if (control.plan_next > 0) control.file->plan_reached = control.plan_next - 1;
  control.planning = true;  // even if this was the last one
  stop_plan(CLEAVE_PLAN_VALUE, self);
}

void plan_ended(ControlThread* thread) {
  if (thread->milestone != CLEAVE_NO_PLACE) stop_plan(CLEAVE_PLAN_THREAD_ENDED, thread);
}

void stop_plan(cleave_plan_why why, ControlThread* thread) {
  if (!control.planning) return;
  control.planning = false;
  control.file->plan_why = why;
  control.file->plan_thread = thread != nullptr ? thread->index : CLEAVE_NO_PLACE;
  if (why == CLEAVE_PLAN_STUCK || why == CLEAVE_PLAN_SPINNING) describe_waits();
  for (uint32_t i = 0; i < control.thread_count; ++i) {
    if (control.threads[i]->standing != Standing::Held) continue;
    --control.held;
    make_ready(control.threads[i]);
  }
}

}  // namespace cleave::runtime
