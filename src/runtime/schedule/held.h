// The locks that this thread holds now, as far as kHeldLocks of them reach: what the child of a fork begins
// with, and what a robust mutex loses when its owner ends.
#pragma once

#include "runtime/record/state.h"

namespace cleave::runtime {

inline void now_held(const volatile void* object, Record lock) {
  Thread* thread = current_thread;
  if (thread == nullptr || thread->held_count == kHeldLocks) return;
  thread->held[thread->held_count++] = {object, lock};
}

// The innermost hold of it; a lock that somebody else took is not there.
inline void no_longer_held(const volatile void* object) {
  Thread* thread = current_thread;
  if (thread == nullptr) return;
  for (uint32_t i = thread->held_count; i-- > 0;) {
    if (thread->held[i].object != object) continue;
    for (--thread->held_count; i < thread->held_count; ++i) thread->held[i] = thread->held[i + 1];
    return;
  }
}

}  // namespace cleave::runtime
