// Reader-writer locks. Tickets as for mutexes: after the lock, before the unlock.
#include "runtime/interpose/real.h"
#include "runtime/record/stripes.h"
#include "runtime/schedule/held.h"

namespace cleave::runtime {
namespace {

int after_lock(Record kind, pthread_rwlock_t* lock, int result) {
  if (result == 0 && recording()) {
    uint64_t ticket = take_ticket(lock);
    record(kind, word_of(lock), ticket, stamp_now());
    now_held(lock, kind);
  }
  return result;
}

void before_unlock(pthread_rwlock_t* lock) {
  const Thread* thread = own_thread();
  bool exclusive = thread != nullptr && lock->__data.__cur_writer == thread->tid;
  uint64_t ticket = take_ticket(lock);
  record(exclusive ? kRecord_exclusive_unlock : kRecord_shared_unlock, word_of(lock), ticket, stamp_now());
  no_longer_held(lock);
}

}  // namespace
}  // namespace cleave::runtime

using namespace cleave::runtime;

INTERPOSE int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  return after_lock(kRecord_shared_lock, lock, REAL(pthread_rwlock_rdlock)(lock));
}
INTERPOSE int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) {
  return after_lock(kRecord_shared_lock, lock, REAL(pthread_rwlock_tryrdlock)(lock));
}
INTERPOSE int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* until) {
  return after_lock(kRecord_shared_lock, lock, REAL(pthread_rwlock_timedrdlock)(lock, until));
}
INTERPOSE int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock, const timespec* until) {
  return after_lock(kRecord_shared_lock, lock, REAL(pthread_rwlock_clockrdlock)(lock, clock, until));
}
INTERPOSE int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  return after_lock(kRecord_exclusive_lock, lock, REAL(pthread_rwlock_wrlock)(lock));
}
INTERPOSE int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) {
  return after_lock(kRecord_exclusive_lock, lock, REAL(pthread_rwlock_trywrlock)(lock));
}
INTERPOSE int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* until) {
  return after_lock(kRecord_exclusive_lock, lock, REAL(pthread_rwlock_timedwrlock)(lock, until));
}
INTERPOSE int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock, const timespec* until) {
  return after_lock(kRecord_exclusive_lock, lock, REAL(pthread_rwlock_clockwrlock)(lock, clock, until));
}
INTERPOSE int pthread_rwlock_unlock(pthread_rwlock_t* lock) {
  if (recording()) before_unlock(lock);
  return REAL(pthread_rwlock_unlock)(lock);
}
