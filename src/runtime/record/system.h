// System calls without libc in between: they keep errno, are no cancellation points, and do not enter our own
// interposers. x86-64 Linux.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

namespace cleave::runtime {

inline long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

// Where the runtime would like its own memory to be: away from where the system puts the program's, so that
// the program's lies where it lies without us, and in a replay where it lay when it was recorded. Only asked
// for, never insisted on. What a replay needs and its recording did not have (Asked) has a place of its own,
// so that all other memory of the runtime is where it was then too: its addresses may well lie in what the
// program finds on its stack.
enum class Purpose { Own = 0, Asked = 1 };
inline uintptr_t next_mapping[] = {UINT64_C(0x100000000000), UINT64_C(0x200000000000)};
inline long place_for(size_t bytes, Purpose purpose = Purpose::Own) {
  constexpr size_t kPage = 4096;
  size_t step = ((bytes + kPage - 1) & ~(kPage - 1)) + kPage;
  return static_cast<long>(
      __atomic_fetch_add(&next_mapping[static_cast<int>(purpose)], step, __ATOMIC_RELAXED));
}

// Zeroed memory from the system, or null.
inline void* map_memory(size_t bytes, Purpose purpose = Purpose::Own) {
  long address = system_call(SYS_mmap, place_for(bytes, purpose), static_cast<long>(bytes),
                             3 /* read, write */, 0x22 /* private anonymous */, -1, 0);
  return address < 0 && address > -4096 ? nullptr : reinterpret_cast<void*>(address);
}

inline int current_tid() { return static_cast<int>(system_call(SYS_gettid)); }
inline int current_pid() { return static_cast<int>(system_call(SYS_getpid)); }
inline void yield_processor() { system_call(SYS_sched_yield); }

// The time stamp counter.
inline uint64_t ticks_now() { return __builtin_ia32_rdtsc(); }

// What orders events that no ticket orders: the time stamp counter, or, where one thread runs at a time, a
// number that is the same in every such run and grows with every event as much as the counter does in some
// microseconds. 0: the counter.
inline uint64_t counted_stamps = 0;
inline constexpr uint64_t kFirstStamp = UINT64_C(1) << 20;
inline uint64_t stamp_now() {
  if (__builtin_expect(counted_stamps == 0, 1)) return ticks_now();
  return __atomic_add_fetch(&counted_stamps, UINT64_C(1) << 16, __ATOMIC_RELAXED);
}

}  // namespace cleave::runtime
