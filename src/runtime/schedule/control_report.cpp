// Who holds and waits for what, when nobody can go on.
#include "runtime/schedule/control.h"

#include "runtime/record/state.h"

namespace cleave::runtime {
namespace {

// Signals that met nobody, newest first per condition: the usual reason for a wait that never ends.
struct LostSignal {
  const volatile void* condition;
  uint32_t thread;
  const cleave_segment* place;
};
constexpr uint32_t kLostSignals = 256;
LostSignal lost[kLostSignals];

LostSignal& lost_slot(const volatile void* condition) {
  return lost[(reinterpret_cast<uintptr_t>(condition) >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 56];
}

}  // namespace

ControlThread* thread_of_tid(int tid) {
  if (tid == 0) return nullptr;
  for (uint32_t i = control.thread_count; i-- > 0;)
    if (control.threads[i]->tid.load() == tid && control.threads[i]->standing != Standing::Ended)
      return control.threads[i];
  return nullptr;
}

ControlThread* has_object(const ControlThread* waiter) {
  // Owners as libc notes them in its objects.
  switch (waiter->waits_in) {
    case CLEAVE_POINT_lock:
      return thread_of_tid(
          const_cast<const pthread_mutex_t*>(static_cast<const volatile pthread_mutex_t*>(waiter->object))
              ->__data.__owner);
    case CLEAVE_POINT_read_lock:
    case CLEAVE_POINT_write_lock:
      return thread_of_tid(
          const_cast<const pthread_rwlock_t*>(static_cast<const volatile pthread_rwlock_t*>(waiter->object))
              ->__data.__cur_writer);
    case CLEAVE_POINT_join:
      return static_cast<ControlThread*>(const_cast<void*>(waiter->object));
    default:
      return nullptr;
  }
}

bool waits_in_circle() {
  auto next = [](const ControlThread* thread) -> const ControlThread* {
    bool waits = thread->standing == Standing::Waiting && thread->deadline == UINT64_MAX;
    return waits ? has_object(thread) : nullptr;
  };
  for (uint32_t i = 0; i < control.thread_count; ++i) {
    const ControlThread* slow = control.threads[i];
    const ControlThread* fast = slow;
    while (fast != nullptr && (fast = next(fast)) != nullptr) {
      fast = next(fast);
      slow = next(slow);
      if (fast != nullptr && fast == slow) return true;
    }
  }
  return false;
}

void note_lost_signal(const volatile void* condition, ControlThread* by) {
  lost_slot(condition) = {condition, by->index, by->place};
}

void describe_waits() {
  control.file->waits.used = 0;
  for (uint32_t i = 0; i < control.thread_count; ++i) {
    ControlThread* thread = control.threads[i];
    if (thread->standing == Standing::Ended) continue;
    auto* wait = append<cleave_control_wait>(control.file->waits);
    if (wait == nullptr) return;
    *wait = {};
    wait->thread = thread->index;
    wait->holder = wait->lost_by = CLEAVE_NO_PLACE;
    locate(thread->place, &wait->module, &wait->segment);
    if (thread->standing == Standing::Held) wait->operation = CLEAVE_WAIT_HELD;
    if (thread->standing == Standing::Outside) wait->operation = CLEAVE_POINT_call_out;
    if (thread->standing != Standing::Waiting) continue;
    wait->operation = thread->waits_in;
    wait->object = reinterpret_cast<uintptr_t>(thread->object);
    wait->mutex = reinterpret_cast<uintptr_t>(thread->mutex);
    if (ControlThread* owner = has_object(thread)) wait->holder = owner->index;
    LostSignal& signal = lost_slot(thread->object);
    if (thread->waits_in == CLEAVE_POINT_wait && signal.condition == thread->object) {
      wait->lost_by = signal.thread;
      locate(signal.place, &wait->lost_module, &wait->lost_segment);
    }
  }
}

void end_process(cleave_control_end end) {
  control.file->end = end;
  describe_waits();
  control.on = false;
  finish(Way::Crash, "control", "reason", end);
  system_call(SYS_exit_group, 3);
  __builtin_unreachable();
}

}  // namespace cleave::runtime
