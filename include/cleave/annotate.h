/* What users write in their programs so that Cleave knows what has to be atomic. C and C++.
 * Without Cleave (not compiled by cleave-cc or cleave-c++) every line of this is nothing at all.
 *
 *   CLEAVE_ATOMIC                before a function: each call is a unit
 *   CLEAVE_NOT_ATOMIC            before a function: never a unit, whatever the heuristics say
 *   CLEAVE_ATOMIC_BEGIN("name")  … CLEAVE_ATOMIC_END(): a unit in the middle of a function
 *   CLEAVE_SET("name")           on a field: it belongs to that set of its object
 *   CLEAVE_OWNED                 on a field: what it points to belongs to the sets of its object
 *   CLEAVE_UNITFOR               on a parameter: the function is a unit for that parameter's object
 *   cleave_input_int("name", v)  an input that the directed search may choose; otherwise v (also _uint, _bytes)
 */
#ifndef CLEAVE_ANNOTATE_H
#define CLEAVE_ANNOTATE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__CLEAVE__)

#ifdef __cplusplus
extern "C" {
#endif
void __cleave_annotation_begin(const char *name) __attribute__((nothrow));
void __cleave_annotation_end(void) __attribute__((nothrow));
int64_t __cleave_input_int(const char *name, int64_t value);
uint64_t __cleave_input_uint(const char *name, uint64_t value);
void __cleave_input_bytes(const char *name, void *data, size_t bytes);
#ifdef __cplusplus
}
#endif

#define CLEAVE_ATOMIC __attribute__((annotate("cleave.atomic")))
#define CLEAVE_NOT_ATOMIC __attribute__((annotate("cleave.not_atomic")))
#define CLEAVE_SET(name) __attribute__((annotate("cleave.set:" name)))
#define CLEAVE_OWNED __attribute__((annotate("cleave.owned")))
#define CLEAVE_UNITFOR __attribute__((annotate("cleave.unitfor")))
#define CLEAVE_ATOMIC_BEGIN(name) __cleave_annotation_begin(name)
#define CLEAVE_ATOMIC_END() __cleave_annotation_end()
#define cleave_input_int(name, value) __cleave_input_int(name, value)
#define cleave_input_uint(name, value) __cleave_input_uint(name, value)
#define cleave_input_bytes(name, data, bytes) __cleave_input_bytes(name, data, bytes)

#else

#define CLEAVE_ATOMIC
#define CLEAVE_NOT_ATOMIC
#define CLEAVE_SET(name)
#define CLEAVE_OWNED
#define CLEAVE_UNITFOR
#define CLEAVE_ATOMIC_BEGIN(name) ((void)0)
#define CLEAVE_ATOMIC_END() ((void)0)
#define cleave_input_int(name, value) ((int64_t)(value))
#define cleave_input_uint(name, value) ((uint64_t)(value))
#define cleave_input_bytes(name, data, bytes) ((void)0)

#endif
#endif
