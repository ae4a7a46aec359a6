/* Instrumentation by hand: what the pass would emit, so that the runtime is tested without it. One
 * translation unit, two segments: a read and a write of up to 8 bytes, and one segment that atomics and
 * ranges refer to. */
#ifndef HAND_H
#define HAND_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/hooks.h"

#define HAND_READ 0
#define HAND_WRITE 1
#define HAND_HOOK 2
__attribute__((used)) static const struct cleave_segment hand_segments[3] = {{2, 1}, {2, 1}, {0, 0}};
static const struct cleave_module hand_module = {CLEAVE_ABI_VERSION, 3, hand_segments, NULL, 0,
                                                 "tables",           6, HAND_NAME,     4711};

__attribute__((constructor(101))) static void hand_register(void) { __cleave_register(&hand_module); }
__attribute__((destructor(101))) static void hand_unregister(void) { __cleave_unregister(&hand_module); }

/* The inline code of record.h. */
static inline uint64_t* hand_segment(int which, uint64_t words) {
  uint64_t* p = __cleave_thread.cursor;
  if (p + 1 + words > __cleave_thread.limit) p = __cleave_reserve(1 + words, &hand_segments[which]);
  __cleave_thread.cursor = p + 1 + words;
  p[0] = (uint64_t)(uintptr_t)&hand_segments[which] | __cleave_thread.branches << 48;
  __cleave_thread.branches = CLEAVE_BRANCHES_NONE;
  return p;
}

static inline uint64_t hand_read(volatile uint64_t* address) {
  volatile uint64_t* p = hand_segment(HAND_READ, 2);
  p[1] = (uint64_t)(uintptr_t)address;
  return p[2] = *address;
}

static inline void hand_write(volatile uint64_t* address, uint64_t value) {
  volatile uint64_t* p = hand_segment(HAND_WRITE, 2);
  p[1] = (uint64_t)(uintptr_t)address;
  *address = value;
  p[2] = value;
}

static inline void hand_branch(int outcome) {
  __cleave_thread.branches = __cleave_thread.branches << 1 | (outcome != 0);
  if (__cleave_thread.branches & CLEAVE_BRANCHES_FULL) __cleave_branches_full();
}

static inline uint64_t hand_add(_Atomic uint64_t* address, uint64_t amount) {
  uint64_t ticket = __cleave_atomic_begin(&hand_segments[HAND_HOOK], address);
  uint64_t old = atomic_fetch_add(address, amount);
  __cleave_atomic_end(&hand_segments[HAND_HOOK], address, ticket, CLEAVE_ATOMIC_UPDATE, 5, 8, old, 0,
                      old + amount, 0);
  return old;
}

static inline uint64_t hand_atomic_read(_Atomic uint64_t* address) {
  uint64_t ticket = __cleave_atomic_begin(&hand_segments[HAND_HOOK], address);
  uint64_t value = atomic_load(address);
  __cleave_atomic_end(&hand_segments[HAND_HOOK], address, ticket, CLEAVE_ATOMIC_LOAD, 5, 8, value, 0, value,
                      0);
  return value;
}

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      abort();                                                                  \
    }                                                                           \
  } while (0)

#endif
