// What our own functions leave on the program's stack. A program that copies a structure whole also copies
// the padding in it, which nobody ever wrote: what lies there is left over from earlier calls, and under
// control that must not be anything of ours that differs from run to run (time stamps, where the buffer was
// full, how long a thread waited).
#pragma once

#include <stddef.h>
#include <string.h>

namespace cleave::runtime {

// Clears what lies below the caller's frame.
template <size_t kBytes>
__attribute__((noinline)) inline void scrub_stack() {
  alignas(16) char below[kBytes];
  memset(below, 0, sizeof below);
  __asm__ volatile("" : : "r"(below) : "memory");
}

inline constexpr size_t kShallow = 1024;   // below a point at which the thread goes on
inline constexpr size_t kDeep = 8 * 1024;  // below one that flushes a buffer or waits

}  // namespace cleave::runtime
