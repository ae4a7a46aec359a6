// Condition variables. A wait takes both its tickets before it sleeps and again after it has the mutex back,
// so always while it holds the mutex; a signal takes its ticket before it can wake anybody.
#include "runtime/interpose/condition.h"

#include <errno.h>

#include "runtime/interpose/mutex.h"
#include "runtime/interpose/real.h"
#include "runtime/record/stripes.h"
#include "runtime/schedule/control.h"

namespace cleave::runtime {
namespace {

struct Wait {
  pthread_cond_t* condition;
  pthread_mutex_t* mutex;
};

void before_wait(const Wait& wait) {
  uint64_t of_condition = take_ticket(wait.condition);
  uint64_t of_mutex = take_ticket(wait.mutex);
  record(kRecord_cond_wait, word_of(wait.condition), word_of(wait.mutex), of_condition, of_mutex,
         stamp_now());
  flush_if_old();
}

void after_wait(const Wait& wait, bool timed_out) {
  uint64_t of_mutex = take_ticket(wait.mutex);
  uint64_t of_condition = take_ticket(wait.condition);
  record(kRecord_cond_wake, word_of(wait.condition), word_of(wait.mutex), of_condition, of_mutex, stamp_now(),
         timed_out);
}

// A cancelled wait has the mutex again when its clean-up handlers run, and ours is the first of them.
void cancelled(void* argument) { after_wait(*static_cast<Wait*>(argument), true); }

template <typename Sleep>
int recorded_wait(Wait wait, Sleep sleep) {
  scheduling_point(CLEAVE_POINT_wait);
  if (unlock_is_refused(wait.mutex)) return sleep();
  before_wait(wait);
  int result;
  pthread_cleanup_push(cancelled, &wait);
  result = sleep();
  pthread_cleanup_pop(0);
  // EINVAL: nothing was waited for, the mutex was never let go; the pair says as much.
  after_wait(wait, result != 0);
  return result;
}

}  // namespace

int wait_condition(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  if (!recording()) return REAL(pthread_cond_wait)(condition, mutex);
  return recorded_wait({condition, mutex}, [=] { return REAL(pthread_cond_wait)(condition, mutex); });
}

int timed_wait_condition(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
  if (!recording()) return REAL(pthread_cond_timedwait)(condition, mutex, until);
  return recorded_wait({condition, mutex},
                       [=] { return REAL(pthread_cond_timedwait)(condition, mutex, until); });
}

int clock_wait_condition(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                         const timespec* until) {
  if (!recording()) return REAL(pthread_cond_clockwait)(condition, mutex, clock, until);
  return recorded_wait({condition, mutex},
                       [=] { return REAL(pthread_cond_clockwait)(condition, mutex, clock, until); });
}

int signal_condition(pthread_cond_t* condition) {
  scheduling_point(CLEAVE_POINT_signal);
  if (recording()) {
    uint64_t ticket = take_ticket(condition);
    record(kRecord_cond_signal, word_of(condition), ticket, stamp_now());
  }
  return REAL(pthread_cond_signal)(condition);
}

int broadcast_condition(pthread_cond_t* condition) {
  scheduling_point(CLEAVE_POINT_broadcast);
  if (recording()) {
    uint64_t ticket = take_ticket(condition);
    record(kRecord_cond_broadcast, word_of(condition), ticket, stamp_now());
  }
  return REAL(pthread_cond_broadcast)(condition);
}

}  // namespace cleave::runtime

using namespace cleave::runtime;

INTERPOSE int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return wait_condition(condition, mutex);
}
INTERPOSE int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                     const timespec* until) {
  return timed_wait_condition(condition, mutex, until);
}
INTERPOSE int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                     const timespec* until) {
  return clock_wait_condition(condition, mutex, clock, until);
}
INTERPOSE int pthread_cond_signal(pthread_cond_t* condition) { return signal_condition(condition); }
INTERPOSE int pthread_cond_broadcast(pthread_cond_t* condition) { return broadcast_condition(condition); }
