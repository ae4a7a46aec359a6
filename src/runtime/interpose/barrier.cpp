// Barriers: the ticket of an arrival is taken before the wait, that of the passage after it, so all arrivals
// of a generation have smaller numbers than all its passages.
#include "runtime/interpose/real.h"
#include "runtime/record/stripes.h"
#include "runtime/schedule/control.h"

using namespace cleave::runtime;

INTERPOSE int pthread_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes,
                                   unsigned parties) {
  int result = REAL(pthread_barrier_init)(barrier, attributes, parties);
  int shared = PTHREAD_PROCESS_PRIVATE;  // of a shared one, not all parties are ours
  if (attributes != nullptr) pthread_barrierattr_getpshared(attributes, &shared);
  if (result == 0 && recording() && shared == PTHREAD_PROCESS_PRIVATE) {
    uint64_t ticket = take_ticket(barrier);
    record(kRecord_barrier_init, word_of(barrier), ticket, stamp_now(), parties);
  }
  return result;
}

INTERPOSE int pthread_barrier_wait(pthread_barrier_t* barrier) {
  scheduling_point(CLEAVE_POINT_barrier);
  if (!recording()) return REAL(pthread_barrier_wait)(barrier);
  uint64_t ticket = take_ticket(barrier);
  record(kRecord_barrier_arrive, word_of(barrier), ticket, stamp_now());
  flush_if_old();
  int result = REAL(pthread_barrier_wait)(barrier);
  if (recording()) {
    ticket = take_ticket(barrier);
    record(kRecord_barrier_pass, word_of(barrier), ticket, stamp_now());
  }
  return result;
}
