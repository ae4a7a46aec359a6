// Mutexes, reader-writer locks, spin locks, once and the guards of local statics under control: a try on the
// real object, and a wait for whoever has it. Nobody else runs in between, so the try says the truth.
#include <errno.h>

#include "runtime/schedule/control.h"

namespace cleave::runtime {
namespace {

template <typename Try>
int acquire(ControlThread* self, Point in, volatile void* object, uint64_t deadline, Try attempt) {
  for (;;) {
    int result = attempt();
    if (result != EBUSY) {
      ++control.progress;
      return result;
    }
    block(self, in, object, deadline);
    if (self->timed_out) {
      result = attempt();
      return result == EBUSY ? ETIMEDOUT : result;
    }
  }
}

bool valid(const timespec* time) { return time->tv_nsec >= 0 && time->tv_nsec < 1000000000; }

// An error-checking mutex that its owner locks again says so instead of waiting for itself.
bool is_own_checked(ControlThread* self, const pthread_mutex_t* mutex) {
  return (mutex->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK_NP &&
         mutex->__data.__owner == self->tid.load();
}

int mutex_lock(pthread_mutex_t* mutex) {
  ControlThread* self = controlled_self();
  if (self == nullptr || is_own_checked(self, mutex)) return original.pthread_mutex_lock(mutex);
  point(self, CLEAVE_POINT_lock);
  return acquire(self, CLEAVE_POINT_lock, mutex, UINT64_MAX,
                 [=] { return original.pthread_mutex_trylock(mutex); });
}

int mutex_trylock(pthread_mutex_t* mutex) {
  if (ControlThread* self = controlled_self()) point(self, CLEAVE_POINT_trylock);
  return original.pthread_mutex_trylock(mutex);
}

int mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  ControlThread* self = controlled_self();
  if (self == nullptr || !valid(until) || is_own_checked(self, mutex))
    return original.pthread_mutex_clocklock(mutex, clock, until);
  point(self, CLEAVE_POINT_lock);
  return acquire(self, CLEAVE_POINT_lock, mutex, deadline_of(clock, until),
                 [=] { return original.pthread_mutex_trylock(mutex); });
}

int mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) {
  return mutex_clocklock(mutex, CLOCK_REALTIME, until);
}

int mutex_unlock(pthread_mutex_t* mutex) {
  ControlThread* self = controlled_self();
  if (self != nullptr) ensure_turn(self);
  int result = original.pthread_mutex_unlock(mutex);
  if (self != nullptr && result == 0) wake(mutex);
  return result;
}

int spin_lock(pthread_spinlock_t* lock) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return original.pthread_spin_lock(lock);
  point(self, CLEAVE_POINT_lock);
  // Its wait goes by another name: the word says nothing about who has it.
  return acquire(self, CLEAVE_POINT_trylock, const_cast<int*>(lock), UINT64_MAX,
                 [=] { return original.pthread_spin_trylock(lock); });
}

int spin_trylock(pthread_spinlock_t* lock) {
  if (ControlThread* self = controlled_self()) point(self, CLEAVE_POINT_trylock);
  return original.pthread_spin_trylock(lock);
}

int spin_unlock(pthread_spinlock_t* lock) {
  ControlThread* self = controlled_self();
  if (self != nullptr) ensure_turn(self);
  int result = original.pthread_spin_unlock(lock);
  if (self != nullptr) wake(const_cast<int*>(lock));
  return result;
}

int read_lock(pthread_rwlock_t* lock, uint64_t deadline, ControlThread* self) {
  point(self, CLEAVE_POINT_read_lock);
  if (lock->__data.__cur_writer == self->tid.load()) return EDEADLK;
  return acquire(self, CLEAVE_POINT_read_lock, lock, deadline,
                 [=] { return original.pthread_rwlock_tryrdlock(lock); });
}

int write_lock(pthread_rwlock_t* lock, uint64_t deadline, ControlThread* self) {
  point(self, CLEAVE_POINT_write_lock);
  if (lock->__data.__cur_writer == self->tid.load()) return EDEADLK;
  return acquire(self, CLEAVE_POINT_write_lock, lock, deadline,
                 [=] { return original.pthread_rwlock_trywrlock(lock); });
}

int rwlock_rdlock(pthread_rwlock_t* lock) {
  ControlThread* self = controlled_self();
  return self == nullptr ? original.pthread_rwlock_rdlock(lock) : read_lock(lock, UINT64_MAX, self);
}
int rwlock_wrlock(pthread_rwlock_t* lock) {
  ControlThread* self = controlled_self();
  return self == nullptr ? original.pthread_rwlock_wrlock(lock) : write_lock(lock, UINT64_MAX, self);
}
int rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock, const timespec* until) {
  ControlThread* self = controlled_self();
  if (self == nullptr || !valid(until)) return original.pthread_rwlock_clockrdlock(lock, clock, until);
  return read_lock(lock, deadline_of(clock, until), self);
}
int rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock, const timespec* until) {
  ControlThread* self = controlled_self();
  if (self == nullptr || !valid(until)) return original.pthread_rwlock_clockwrlock(lock, clock, until);
  return write_lock(lock, deadline_of(clock, until), self);
}
int rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* until) {
  return rwlock_clockrdlock(lock, CLOCK_REALTIME, until);
}
int rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* until) {
  return rwlock_clockwrlock(lock, CLOCK_REALTIME, until);
}
int rwlock_tryrdlock(pthread_rwlock_t* lock) {
  if (ControlThread* self = controlled_self()) point(self, CLEAVE_POINT_trylock);
  return original.pthread_rwlock_tryrdlock(lock);
}
int rwlock_trywrlock(pthread_rwlock_t* lock) {
  if (ControlThread* self = controlled_self()) point(self, CLEAVE_POINT_trylock);
  return original.pthread_rwlock_trywrlock(lock);
}
int rwlock_unlock(pthread_rwlock_t* lock) {
  ControlThread* self = controlled_self();
  if (self != nullptr) ensure_turn(self);
  int result = original.pthread_rwlock_unlock(lock);
  if (self != nullptr && result == 0) wake(lock);
  return result;
}

// libc's word of a pthread_once_t: 1 while the routine runs, 2 when it has run, other bits count forks.
int once(pthread_once_t* flag, void (*routine)()) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return original.pthread_once(flag, routine);
  point(self, CLEAVE_POINT_once);
  while ((__atomic_load_n(flag, __ATOMIC_ACQUIRE) & 3) == 1) block(self, CLEAVE_POINT_once, flag);
  int result = original.pthread_once(flag, routine);
  if (controlled_self() == self) wake(flag);
  return result;
}

// The words of the C++ ABI's guard in libstdc++: bit 0 done, bit 8 somebody is at it.
int guard_acquire(uint64_t* guard) {
  ControlThread* self = controlled_self();
  if (self == nullptr) return original.__cxa_guard_acquire(guard);
  point(self, CLEAVE_POINT_once);
  while ((__atomic_load_n(guard, __ATOMIC_ACQUIRE) & 0x101) == 0x100) block(self, CLEAVE_POINT_once, guard);
  return original.__cxa_guard_acquire(guard);
}
void guard_release(uint64_t* guard) {
  original.__cxa_guard_release(guard);
  if (ControlThread* self = controlled_self()) ensure_turn(self), wake(guard);
}
void guard_abort(uint64_t* guard) {
  original.__cxa_guard_abort(guard);
  if (ControlThread* self = controlled_self()) ensure_turn(self), wake(guard);
}

}  // namespace

void replace_lock_calls() {
  real.pthread_mutex_lock = mutex_lock;
  real.pthread_mutex_trylock = mutex_trylock;
  real.pthread_mutex_timedlock = mutex_timedlock;
  real.pthread_mutex_clocklock = mutex_clocklock;
  real.pthread_mutex_unlock = mutex_unlock;
  real.pthread_spin_lock = spin_lock;
  real.pthread_spin_trylock = spin_trylock;
  real.pthread_spin_unlock = spin_unlock;
  real.pthread_rwlock_rdlock = rwlock_rdlock;
  real.pthread_rwlock_wrlock = rwlock_wrlock;
  real.pthread_rwlock_tryrdlock = rwlock_tryrdlock;
  real.pthread_rwlock_trywrlock = rwlock_trywrlock;
  real.pthread_rwlock_timedrdlock = rwlock_timedrdlock;
  real.pthread_rwlock_timedwrlock = rwlock_timedwrlock;
  real.pthread_rwlock_clockrdlock = rwlock_clockrdlock;
  real.pthread_rwlock_clockwrlock = rwlock_clockwrlock;
  real.pthread_rwlock_unlock = rwlock_unlock;
  real.pthread_once = once;
  if (original.__cxa_guard_acquire == nullptr) return;  // a C program
  real.__cxa_guard_acquire = guard_acquire;
  real.__cxa_guard_release = guard_release;
  real.__cxa_guard_abort = guard_abort;
}

}  // namespace cleave::runtime
