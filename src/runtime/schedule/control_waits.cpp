// Condition variables, semaphores and barriers under control. The real condition variable is never used: who
// waits is known here, and whom a signal wakes is a choice. The mutex stays real.
#include <errno.h>
#include <semaphore.h>

#include "runtime/schedule/control.h"

namespace cleave::runtime {
namespace {

int relock(ControlThread* self, pthread_mutex_t* mutex) {
  for (;;) {
    int result = original.pthread_mutex_trylock(mutex);
    if (result != EBUSY) {
      ++control.progress;
      return result;
    }
    block(self, CLEAVE_POINT_lock, mutex);
  }
}

int condition_wait(ControlThread* self, pthread_cond_t* condition, pthread_mutex_t* mutex,
                   uint64_t deadline) {
  ensure_turn(self);
  int result = original.pthread_mutex_unlock(mutex);
  if (result != 0) return result;
  wake(mutex);
  bool spurious_allowed = control.file->flags & CLEAVE_CONTROL_SPURIOUS;
  do {
    // A spurious wake-up is a time-out that is not told.
    block(self, CLEAVE_POINT_wait, condition,
          spurious_allowed && deadline == UINT64_MAX ? kSpurious : deadline, mutex);
  } while (!self->woken && !self->timed_out && !self->cancelled);
  bool timed_out = !self->woken && self->timed_out && deadline != UINT64_MAX;
  result = relock(self, mutex);
  if (self->cancelled) pthread_testcancel();
  if (result != 0) return result;
  return timed_out ? ETIMEDOUT : 0;
}

int cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return original.pthread_cond_wait(condition, mutex);
  return condition_wait(self, condition, mutex, UINT64_MAX);
}

int cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                   const timespec* until) {
  ControlThread* self = controlled_self();
  if (self == nullptr || until->tv_nsec < 0 || until->tv_nsec >= 1000000000)
    return original.pthread_cond_clockwait(condition, mutex, clock, until);
  return condition_wait(self, condition, mutex, deadline_of(clock, until));
}

int cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return original.pthread_cond_timedwait(condition, mutex, until);
  // The condition knows its clock: libc keeps it in bit 1 of the word that counts references.
  clockid_t clock = condition->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
  return cond_clockwait(condition, mutex, clock, until);
}

int cond_signal(pthread_cond_t* condition) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return original.pthread_cond_signal(condition);
  ensure_turn(self);
  uint32_t waiters = count_waiters(condition, CLEAVE_POINT_wait);
  if (waiters == 0) {
    note_lost_signal(condition, self);
    return 0;
  }
  uint32_t chosen = 0;
  if (waiters > 1) {
    bool any = control.file->policy == CLEAVE_POLICY_RANDOM || control.file->policy == CLEAVE_POLICY_PCT;
    chosen = pin_choice(self, any ? static_cast<uint32_t>(random_below(waiters)) : 0);
  }
  if (ControlThread* thread = waiter_at(condition, CLEAVE_POINT_wait, chosen)) wake_waiter(thread);
  return 0;
}

int cond_broadcast(pthread_cond_t* condition) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return original.pthread_cond_broadcast(condition);
  ensure_turn(self);
  if (wake(condition) == 0) note_lost_signal(condition, self);
  return 0;
}

// sem_* set errno, unlike the rest.
int semaphore_down(ControlThread* self, sem_t* semaphore, uint64_t deadline) {
  point(self, CLEAVE_POINT_down);
  for (;;) {
    if (original.sem_trywait(semaphore) == 0) {
      ++control.progress;
      return 0;
    }
    if (errno != EAGAIN) return -1;
    block(self, CLEAVE_POINT_down, semaphore, deadline);
    if (self->cancelled) pthread_testcancel();
    if (self->timed_out && original.sem_trywait(semaphore) != 0) {
      errno = ETIMEDOUT;
      return -1;
    } else if (self->timed_out) {
      return 0;
    }
  }
}

int semaphore_wait(sem_t* semaphore) {
  ControlThread* self = controlled_self();
  return self == nullptr ? original.sem_wait(semaphore) : semaphore_down(self, semaphore, UINT64_MAX);
}
int semaphore_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
  ControlThread* self = controlled_self();
  if (self == nullptr || until->tv_nsec < 0 || until->tv_nsec >= 1000000000)
    return original.sem_clockwait(semaphore, clock, until);
  return semaphore_down(self, semaphore, deadline_of(clock, until));
}
int semaphore_timedwait(sem_t* semaphore, const timespec* until) {
  return semaphore_clockwait(semaphore, CLOCK_REALTIME, until);
}
int semaphore_trywait(sem_t* semaphore) {
  if (ControlThread* self = controlled_self()) point(self, CLEAVE_POINT_down);
  return original.sem_trywait(semaphore);
}
int semaphore_post(sem_t* semaphore) {
  ControlThread* self = controlled_self();
  // A handler may post; then the thread may not have the turn, and must not wait for it.
  int result = original.sem_post(semaphore);
  if (self != nullptr && control.holder.load() == self) wake(semaphore);
  return result;
}

int barrier_wait(pthread_barrier_t* barrier) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return original.pthread_barrier_wait(barrier);
  ensure_turn(self);
  // libc: arrived, round, parties, …
  uint32_t parties = reinterpret_cast<const uint32_t*>(barrier)[2];
  if (count_waiters(barrier, CLEAVE_POINT_barrier) + 1 >= parties) {
    wake(barrier);
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  do block(self, CLEAVE_POINT_barrier, barrier);
  while (!self->woken);
  return 0;
}

}  // namespace

void replace_wait_calls() {
  real.pthread_cond_wait = cond_wait;
  real.pthread_cond_timedwait = cond_timedwait;
  real.pthread_cond_clockwait = cond_clockwait;
  real.pthread_cond_signal = cond_signal;
  real.pthread_cond_broadcast = cond_broadcast;
  real.sem_wait = semaphore_wait;
  real.sem_timedwait = semaphore_timedwait;
  real.sem_clockwait = semaphore_clockwait;
  real.sem_trywait = semaphore_trywait;
  real.sem_post = semaphore_post;
  real.pthread_barrier_wait = barrier_wait;
}

}  // namespace cleave::runtime
