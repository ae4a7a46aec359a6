/* The one door between instrumented code and the runtime: every function that the pass may call.
 * All are C, never throw, never allocate from the program's heap. `segment` is the descriptor of the event's
 * own segment (see record.h), from which the site is known.
 */
#ifndef CLEAVE_ABI_HOOKS_H
#define CLEAVE_ABI_HOOKS_H

#include <stddef.h>

#include "abi/record.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

extern __thread struct cleave_thread_block __cleave_thread __attribute__((tls_model("initial-exec")));

/* From a constructor of each module, before any of its code runs; and from its destructor. */
void __cleave_register(const struct cleave_module* module);
void __cleave_unregister(const struct cleave_module* module);

/* The three cold calls of the inline code keep every general register but the result and r11, so that the
 * code around them need not spill. The definition must repeat the convention; the pass binds them at load
 * time (a lazy PLT resolver would not keep r10). Vector registers are not kept. */
#define CLEAVE_PRESERVE __attribute__((preserve_most))

/* Room for `words` words; flushes, schedules. The caller sets cursor and writes the record. `segment` is the
 * segment that is about to run: a plan must know it before its accesses happen. */
CLEAVE_PRESERVE uint64_t* __cleave_reserve(uint64_t words, const struct cleave_segment* segment);
/* Before `leg`, not the first of its segment, of which `record` has the words so far. Gives the record to go
 * on with. */
CLEAVE_PRESERVE uint64_t* __cleave_leg(uint64_t* record, const struct cleave_segment* leg);
/* __cleave_thread.branches is full: writes it away and resets it to CLEAVE_BRANCHES_NONE. */
CLEAVE_PRESERVE void __cleave_branches_full(void);

/* Around an atomic operation, which the pass leaves as it is between the two. `begin` is the scheduling
 * point, takes the stripe of the address (order.h) and returns the number this operation has there; `end`
 * gives the stripe back and writes a record `atomic`. op: CLEAVE_ATOMIC_*; order: the C11 number. A failed
 * compare-exchange is a load. */
uint64_t __cleave_atomic_begin(const struct cleave_segment* segment, const void* address);
void __cleave_atomic_end(const struct cleave_segment* segment, const void* address, uint64_t ticket,
                         uint32_t op, uint32_t order, uint32_t bytes, uint64_t old_low, uint64_t old_high,
                         uint64_t new_low, uint64_t new_high);
void __cleave_fence(const struct cleave_segment* segment, uint32_t order);
#define CLEAVE_ATOMIC_LOAD 0u
#define CLEAVE_ATOMIC_STORE 1u
#define CLEAVE_ATOMIC_UPDATE 2u

/* Ranges: memcpy, memmove, memset, string functions. Called before the operation with what it will read, and
 * after it with what it wrote. Contents up to CLEAVE_RANGE_INLINE bytes stand in the record, beyond that a
 * hash of them. */
void __cleave_range_read(const struct cleave_segment* segment, const void* address, uint64_t bytes);
void __cleave_range_write(const struct cleave_segment* segment, const void* address, uint64_t bytes);
/* Before an operation that writes a range and reads none. */
void __cleave_range_point(const struct cleave_segment* segment);
#define CLEAVE_RANGE_INLINE 1024u
/* Before a function returns: a local variable whose address somebody else may have is gone. */
void __cleave_local_end(const struct cleave_segment* segment, const void* address, uint64_t bytes);

/* A container of the standard library has allocated `block` for itself, or has taken over what another held
 * (owns.h). */
void __cleave_owns(const void* container, const void* block);

/* Inputs that a search may choose (annotate.h). Return the value to use, and record it. */
int64_t __cleave_input_int(const char* name, int64_t value);
uint64_t __cleave_input_uint(const char* name, uint64_t value);
void __cleave_input_bytes(const char* name, void* data, size_t bytes);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
