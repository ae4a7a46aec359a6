// Threads: create, join, detach, cancel. Their exit is in runtime.cpp (thread_ends).
#include <pthread.h>

#include "runtime/interpose/real.h"
#include "runtime/record/state.h"
#include "runtime/record/thread.h"
#include "runtime/schedule/control.h"

namespace cleave::runtime {
namespace {

void* start_thread(void* argument) {
  auto* thread = static_cast<Thread*>(argument);
  void* (*start)(void*) = thread->start;
  void* start_argument = thread->argument;
  adopt_thread(thread);
  if (state.controlled) control_thread_begins();
  return start(start_argument);
}

// The thread could not be made, but its fork is in the trace: it started and ended without doing anything.
void abandon(Thread* thread) {
  uint64_t now = stamp_now();
  uint64_t none = CLEAVE_BRANCHES_NONE << CLEAVE_HEADER_ADDRESS_BITS;
  Stream& stream = thread->main;
  const uint64_t words[] = {
      kRecord_thread_start | none, stream.number, stream.parent, now, kRecord_thread_exit | none, now};
  uint64_t* place = stream.base;
  for (uint64_t word : words) *place++ = word;
  write_stream(stream, place, Extent::Whole);
  for (uint64_t* word = stream.base; word < place; ++word) *word = 0;
  release_thread(thread);
}

bool detached(const pthread_attr_t* attributes) {
  int how = PTHREAD_CREATE_JOINABLE;
  return attributes != nullptr && pthread_attr_getdetachstate(attributes, &how) == 0 &&
         how == PTHREAD_CREATE_DETACHED;
}

int joined(uint32_t number, int result) {
  if (result == 0) record(kRecord_join, number, stamp_now());
  return result;
}

}  // namespace

int create_thread(pthread_t* handle, const pthread_attr_t* attributes, void* (*start)(void*),
                  void* argument) {
  scheduling_point(CLEAVE_POINT_create);
  if (!recording()) return REAL(pthread_create)(handle, attributes, start, argument);
  const Thread* own = own_thread();
  uint32_t number = state.next_number.fetch_add(1);
  Thread* child = acquire_thread(number, own ? own->stream->number : kNobody);
  child->start = start;
  child->argument = argument;
  record(kRecord_fork, number, stamp_now());
  flush_now();  // so that a reader of the live file need not wait for this thread to know where the child
                // comes from
  int result;
  {
    Quiet quiet;  // the stack and what belongs to it
    result = REAL(pthread_create)(handle, attributes, start_thread, child);
  }
  if (result != 0)
    abandon(child);
  else if (detached(attributes))
    record(kRecord_detach, number);
  return result;
}

int join_thread(pthread_t thread, void** value) {
  if (!recording()) return REAL(pthread_join)(thread, value);
  uint32_t number = number_of(thread);
  flush_if_old();
  return joined(number, REAL(pthread_join)(thread, value));
}

int try_join_thread(pthread_t thread, void** value) {
  if (!recording()) return REAL(pthread_tryjoin_np)(thread, value);
  uint32_t number = number_of(thread);
  return joined(number, REAL(pthread_tryjoin_np)(thread, value));
}

int clock_join_thread(pthread_t thread, void** value, clockid_t clock, const timespec* until) {
  if (!recording()) return REAL(pthread_clockjoin_np)(thread, value, clock, until);
  uint32_t number = number_of(thread);
  return joined(number, REAL(pthread_clockjoin_np)(thread, value, clock, until));
}

int detach_thread(pthread_t thread) {
  if (!recording()) return REAL(pthread_detach)(thread);
  uint32_t number = number_of(thread);  // before: afterwards the thread may be gone
  int result = REAL(pthread_detach)(thread);
  if (result == 0) record(kRecord_detach, number);
  return result;
}

int cancel_thread(pthread_t thread) {
  if (!recording()) return REAL(pthread_cancel)(thread);
  record(kRecord_cancel, number_of(thread), stamp_now());
  return REAL(pthread_cancel)(thread);
}

}  // namespace cleave::runtime

using namespace cleave::runtime;

INTERPOSE int pthread_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*start)(void*),
                             void* argument) {
  return create_thread(handle, attributes, start, argument);
}
INTERPOSE int pthread_join(pthread_t thread, void** value) { return join_thread(thread, value); }
INTERPOSE int pthread_tryjoin_np(pthread_t thread, void** value) { return try_join_thread(thread, value); }
INTERPOSE int pthread_timedjoin_np(pthread_t thread, void** value, const timespec* until) {
  return clock_join_thread(thread, value, CLOCK_REALTIME, until);
}
INTERPOSE int pthread_clockjoin_np(pthread_t thread, void** value, clockid_t clock, const timespec* until) {
  return clock_join_thread(thread, value, clock, until);
}
INTERPOSE int pthread_detach(pthread_t thread) { return detach_thread(thread); }
INTERPOSE int pthread_cancel(pthread_t thread) { return cancel_thread(thread); }
INTERPOSE int pthread_setcanceltype(int type, int* previous) {
  if (type == PTHREAD_CANCEL_ASYNCHRONOUS && controlled != nullptr) controlled->cancelled_anywhere = true;
  return REAL(pthread_setcanceltype)(type, previous);
}
