/* Makes an interleaving happen every time: step(n) waits until n steps are done, and done() counts one.
 * Atomic, so that no heuristic takes it for part of what the program is about. C and C++. */
#ifndef STEPS_H
#define STEPS_H
#include <sched.h>

extern int steps_done;
static inline void wait_for(int steps) {
  while (__atomic_load_n(&steps_done, __ATOMIC_ACQUIRE) < steps) sched_yield();
}
static inline void done(void) { __atomic_add_fetch(&steps_done, 1, __ATOMIC_RELEASE); }
#endif
