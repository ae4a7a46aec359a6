// pthread_once (and so std::call_once), and the guards of local statics in C++. A routine that is left by an
// exception or a cancellation has a once_abort in place of its once_end, and the next to come begins again.
#include "runtime/interpose/once.h"

#include "abi/hooks.h"
#include "runtime/interpose/guarded_call.h"
#include "runtime/interpose/real.h"
#include "runtime/record/stripes.h"

namespace cleave::runtime {
namespace {

void record_once(Record kind, const volatile void* control) {
  uint64_t ticket = take_ticket(control);
  record(kind, word_of(control), ticket, stamp_now());
}

// Before libc lets others begin.
void routine_left(void* control) {
  Thread* thread = own_thread();
  if (thread != nullptr && thread->once != nullptr) thread->once = thread->once->outer;
  if (recording()) record_once(kRecord_once_abort, control);
}

// libc calls this in place of the program's routine, on the thread whose innermost frame it is for.
void routine_between_records() {
  OnceFrame* frame = own_thread()->once;
  frame->ran = true;
  void (*routine)() = frame->routine;
  void* control = frame->control;
  record_once(kRecord_once_begin, control);
  cleave_call_guarded(routine, routine_left, control);
  if (recording()) record_once(kRecord_once_end, control);
}

}  // namespace

int run_once(pthread_once_t* control, void (*routine)()) {
  Thread* thread = recording() ? own_thread() : nullptr;
  if (thread == nullptr) return REAL(pthread_once)(control, routine);
  OnceFrame frame{routine, control, false, thread->once};
  thread->once = &frame;
  int result = REAL(pthread_once)(control, routine_between_records);
  thread->once = frame.outer;
  if (!frame.ran && recording()) record_once(kRecord_once_seen, control);
  return result;
}

void begin_onces_again(const OnceFrame* innermost) {
  if (innermost == nullptr) return;
  begin_onces_again(innermost->outer);
  if (innermost->ran) record_once(kRecord_once_begin, innermost->control);
}

}  // namespace cleave::runtime

using namespace cleave::runtime;

INTERPOSE int pthread_once(pthread_once_t* control, void (*routine)()) { return run_once(control, routine); }

INTERPOSE int __cxa_guard_acquire(uint64_t* guard) {
  int run = REAL(__cxa_guard_acquire)(guard);
  if (recording()) record_once(run ? kRecord_once_begin : kRecord_once_seen, guard);
  return run;
}

INTERPOSE void __cxa_guard_release(uint64_t* guard) {
  if (recording()) record_once(kRecord_once_end, guard);
  REAL(__cxa_guard_release)(guard);
  // The program reads this byte itself; libstdc++, which writes it, is not instrumented.
  if (recording()) __cleave_range_write(nullptr, guard, 1);
}

INTERPOSE void __cxa_guard_abort(uint64_t* guard) {
  if (recording()) record_once(kRecord_once_abort, guard);
  REAL(__cxa_guard_abort)(guard);
}
