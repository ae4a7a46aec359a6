// Semaphores. A post takes its ticket before it can let anybody through, a down after it got through. How
// many tokens one has that other processes see too is not known: they post where we do not look. The reader
// takes as many as are needed.
#include <semaphore.h>
#include <stdarg.h>

#include "runtime/interpose/real.h"
#include "runtime/record/stripes.h"
#include "runtime/schedule/control.h"

namespace cleave::runtime {
namespace {

int after_down(sem_t* semaphore, int result) {
  if (result == 0 && recording()) {
    uint64_t ticket = take_ticket(semaphore);
    record(kRecord_sem_down, word_of(semaphore), ticket, stamp_now());
  }
  return result;
}

void record_tokens(sem_t* semaphore, uint64_t tokens) {
  uint64_t ticket = take_ticket(semaphore);
  record(kRecord_sem_init, word_of(semaphore), ticket, stamp_now(), tokens);
}

}  // namespace
}  // namespace cleave::runtime

using namespace cleave::runtime;

INTERPOSE int sem_init(sem_t* semaphore, int shared, unsigned tokens) {
  int result = REAL(sem_init)(semaphore, shared, tokens);
  if (result == 0 && recording() && shared == 0) record_tokens(semaphore, tokens);
  return result;
}
INTERPOSE sem_t* sem_open(const char* name, int flags, ...) {
  va_list more;
  va_start(more, flags);
  unsigned mode = va_arg(more, unsigned), tokens = va_arg(more, unsigned);
  va_end(more);
  return REAL(sem_open)(name, flags, mode, tokens);
}
INTERPOSE int sem_post(sem_t* semaphore) {
  scheduling_point(CLEAVE_POINT_post);
  if (recording()) {
    uint64_t ticket = take_ticket(semaphore);
    record(kRecord_sem_post, word_of(semaphore), ticket, stamp_now());
  }
  return REAL(sem_post)(semaphore);
}
INTERPOSE int sem_wait(sem_t* semaphore) {
  if (recording()) flush_if_old();
  return after_down(semaphore, REAL(sem_wait)(semaphore));
}
INTERPOSE int sem_trywait(sem_t* semaphore) { return after_down(semaphore, REAL(sem_trywait)(semaphore)); }
INTERPOSE int sem_timedwait(sem_t* semaphore, const timespec* until) {
  return after_down(semaphore, REAL(sem_timedwait)(semaphore, until));
}
INTERPOSE int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
  return after_down(semaphore, REAL(sem_clockwait)(semaphore, clock, until));
}
