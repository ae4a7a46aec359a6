// Mutexes and spin locks. The ticket of a lock is taken after it succeeded, that of an unlock before it: both
// while the lock is held. Of a recursive mutex only the outermost pair is recorded.
#include <errno.h>

#include "runtime/interpose/mutex.h"
#include "runtime/interpose/real.h"
#include "runtime/record/stripes.h"
#include "runtime/schedule/held.h"

namespace cleave::runtime {
namespace {

bool is_recursive(const pthread_mutex_t* mutex) {
  return (mutex->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE_NP;
}

bool is_checked(const pthread_mutex_t* mutex) {
  int kind = mutex->__data.__kind & 3;
  return kind == PTHREAD_MUTEX_RECURSIVE_NP || kind == PTHREAD_MUTEX_ERRORCHECK_NP;
}

void record_lock(const volatile void* lock) {
  uint64_t ticket = take_ticket(lock);
  record(kRecord_mutex_lock, word_of(lock), ticket, stamp_now());
  now_held(lock, kRecord_mutex_lock);
}

void record_unlock(const volatile void* lock) {
  uint64_t ticket = take_ticket(lock);
  record(kRecord_mutex_unlock, word_of(lock), ticket, stamp_now());
  no_longer_held(lock);
}

// EOWNERDEAD: a robust mutex whose owner died. It is locked.
int locked(pthread_mutex_t* mutex, int result) {
  if (result == 0 || result == EOWNERDEAD) after_mutex_lock(mutex);
  return result;
}

}  // namespace

void after_mutex_lock(pthread_mutex_t* mutex) {
  if (is_recursive(mutex) && mutex->__data.__count != 1) return;
  record_lock(mutex);
}

bool unlock_is_refused(const pthread_mutex_t* mutex) {
  if (!is_checked(mutex)) return false;
  const Thread* thread = own_thread();
  return thread == nullptr || mutex->__data.__owner != thread->tid;
}

void before_mutex_unlock(pthread_mutex_t* mutex) {
  if (unlock_is_refused(mutex) || (is_recursive(mutex) && mutex->__data.__count != 1)) return;
  record_unlock(mutex);
}

void release_robust_mutexes(Thread* thread) {
  for (uint32_t i = thread->held_count; i-- > 0;) {
    if (thread->held[i].lock != kRecord_mutex_lock) continue;
    auto* mutex = static_cast<pthread_mutex_t*>(const_cast<void*>(thread->held[i].object));
    constexpr int kRobust = 16;  // PTHREAD_MUTEX_ROBUST_NORMAL_NP of libc's own headers
    if ((mutex->__data.__kind & kRobust) && mutex->__data.__owner == thread->tid) record_unlock(mutex);
  }
}

int lock_mutex(pthread_mutex_t* mutex) {
  if (!recording()) return REAL(pthread_mutex_lock)(mutex);
  return locked(mutex, REAL(pthread_mutex_lock)(mutex));
}

int try_lock_mutex(pthread_mutex_t* mutex) {
  if (!recording()) return REAL(pthread_mutex_trylock)(mutex);
  return locked(mutex, REAL(pthread_mutex_trylock)(mutex));
}

int timed_lock_mutex(pthread_mutex_t* mutex, const timespec* until) {
  if (!recording()) return REAL(pthread_mutex_timedlock)(mutex, until);
  return locked(mutex, REAL(pthread_mutex_timedlock)(mutex, until));
}

int clock_lock_mutex(pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  if (!recording()) return REAL(pthread_mutex_clocklock)(mutex, clock, until);
  return locked(mutex, REAL(pthread_mutex_clocklock)(mutex, clock, until));
}

int unlock_mutex(pthread_mutex_t* mutex) {
  if (!recording()) return REAL(pthread_mutex_unlock)(mutex);
  before_mutex_unlock(mutex);
  return REAL(pthread_mutex_unlock)(mutex);
}

int lock_spin(pthread_spinlock_t* lock) {
  int result = REAL(pthread_spin_lock)(lock);
  if (result == 0 && recording()) record_lock(lock);
  return result;
}

int try_lock_spin(pthread_spinlock_t* lock) {
  int result = REAL(pthread_spin_trylock)(lock);
  if (result == 0 && recording()) record_lock(lock);
  return result;
}

int unlock_spin(pthread_spinlock_t* lock) {
  if (recording()) record_unlock(lock);
  return REAL(pthread_spin_unlock)(lock);
}

}  // namespace cleave::runtime

using namespace cleave::runtime;

INTERPOSE int pthread_mutex_lock(pthread_mutex_t* mutex) { return lock_mutex(mutex); }
INTERPOSE int pthread_mutex_trylock(pthread_mutex_t* mutex) { return try_lock_mutex(mutex); }
INTERPOSE int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) {
  return timed_lock_mutex(mutex, until);
}
INTERPOSE int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  return clock_lock_mutex(mutex, clock, until);
}
INTERPOSE int pthread_mutex_unlock(pthread_mutex_t* mutex) { return unlock_mutex(mutex); }
INTERPOSE int pthread_spin_lock(pthread_spinlock_t* lock) { return lock_spin(lock); }
INTERPOSE int pthread_spin_trylock(pthread_spinlock_t* lock) { return try_lock_spin(lock); }
INTERPOSE int pthread_spin_unlock(pthread_spinlock_t* lock) { return unlock_spin(lock); }
