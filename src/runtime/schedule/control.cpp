// Start of a controlled run, and what the hooks of the instrumented code call.
#include "runtime/schedule/control.h"

#include <sched.h>
#include <string.h>

#include "runtime/record/message.h"
#include "runtime/record/setting.h"
#include "runtime/record/state.h"
#include "runtime/schedule/control_outside.h"
#include "runtime/schedule/control_places.h"
#include "runtime/schedule/control_point.h"

namespace cleave::runtime {

Control control;
RealFunctions original;
__thread ControlThread* controlled;

namespace {

template <typename Entry>
Entry* map_array(uint64_t count, Purpose purpose = Purpose::Own) {
  auto* memory = static_cast<Entry*>(map_memory(count * sizeof(Entry), purpose));
  if (memory == nullptr) fail("no memory for the scheduler");
  return memory;
}

}  // namespace

void start_control() {
  const char* path = setting(CLEAVE_CONTROL_VARIABLE);
  if (path == nullptr || *path == 0) return;
  if (!attach_control_file(path)) return;
  state.controlled = true;
  state.one_at_a_time = control.file->policy != CLEAVE_POLICY_NOISE;
  control.random = control.file->seed;
  control.planning = control.file->policy == CLEAVE_POLICY_PLAN;
  control.replaying = control.file->policy == CLEAVE_POLICY_REPLAY;
  control.noise = control.file->policy == CLEAVE_POLICY_NOISE;
  control.many =
      control.file->policy == CLEAVE_POLICY_SERIAL || control.file->policy == CLEAVE_POLICY_REVERSE;
  start_policy();
  if (control.noise) return;
  counted_stamps = kFirstStamp;
  control.threads = map_array<ControlThread*>(kControlThreads);
  control.ready = map_array<ControlThread*>(kControlThreads);
  control.timed = map_array<ControlThread*>(kControlThreads);
  uint64_t asked_threads = count_of<cleave_control_thread>(control.file->request_threads) + 1;
  control.by_request = map_array<ControlThread*>(asked_threads, Purpose::Asked);
  control.policy = policy_functions(control.file->policy);
  if (control.planning || control.replaying) start_plan();
  start_sampling();
  resolve_all();
  original = real;
  replace_thread_calls();
  replace_lock_calls();
  replace_wait_calls();
  replace_time_calls();
  start_clocks();
  controlled = new_control_thread(nullptr);
  controlled->tid = current_tid();
  controlled->handle = pthread_self();
  controlled->handle_known = true;
  watch_thread_exit(controlled);
  control.file->holder = 0;
  control.holder.store(controlled);
  cpu_set_t processors;
  bool several = sched_getaffinity(0, sizeof processors, &processors) != 0 || CPU_COUNT(&processors) > 1;
  control.spins = several ? kMostSpins : 0;
  control.on = true;
  pin_descriptors(controlled);
}

namespace {

bool knows_places() { return watches_milestones() || control.constraint_count != 0; }

}  // namespace

void control_module(const cleave_module* module) {
  if (control.file == nullptr) return;
  log_module(module);
  if (knows_places()) places_module(module);
}

void control_module_gone(const cleave_module* module) {
  if (control.file != nullptr && knows_places()) places_module_gone(module);
}

void control_segment(const cleave_segment* segment) {
  if (control.noise) return make_noise(CLEAVE_POINT_access);
  ControlThread* self = controlled_self();
  if (self == nullptr) return;
  ensure_turn(self);
  if (segment->flags & CLEAVE_SEGMENT_ACCESS) return point(self, CLEAVE_POINT_access, segment);
  absorb(self);
  if (watches_milestones()) plan_pass(self, segment);
  pass_segment(self, segment);
}

void control_settle() {
  if (ControlThread* self = controlled_self()) absorb(self);
}

void control_moved() {
  if (ControlThread* self = controlled_self(); self != nullptr && self->unseen != nullptr)
    self->unseen = __cleave_thread.cursor;
}

namespace {

void hook_point(Point what, const cleave_segment* segment) {
  if (control.noise) return make_noise(what);
  ControlThread* self = controlled_self();
  if (self == nullptr) return;
  ensure_turn(self);
  point(self, what, segment);
}

}  // namespace

void control_range(const cleave_segment* segment) { hook_point(CLEAVE_POINT_range, segment); }
void control_atomic_begin(const cleave_segment* segment) { hook_point(CLEAVE_POINT_atomic, segment); }

void control_atomic_end(uint64_t old_value, uint64_t new_value) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return;
  add_word(self, old_value);
  if (new_value != old_value) add_word(self, new_value);
  if (self->check != CLEAVE_NO_PLACE) plan_check_value(self);
  if (!control.replaying) watch_polls(self, old_value, new_value);
}

void control_point(Point what) {
  if (control.noise) return make_noise(what);
  if (ControlThread* self = controlled_self()) point(self, what);
}

void stop_control_in_child() {
  if (control.file == nullptr) return;
  control.on = control.noise = control.replaying = control.planning = control.many = false;
  state.controlled = state.one_at_a_time = false;
  counted_stamps = 0;
  controlled = nullptr;
  control.lock.reset();
  if (control.policy != nullptr) real = original;
}

}  // namespace cleave::runtime
