/* A variable that the original program shares without protection. C.
 * Default build: a relaxed atomic, read and written in separate steps, so that ThreadSanitizer is silent and the
 * violation stays. With -DRAW: a plain variable (volatile, so that every access of the source is made). */
#ifndef PROGRAMS_RACY_H
#define PROGRAMS_RACY_H

#ifdef RAW
#define RACY(type) volatile __typeof__(type)
#define LOAD(variable) (variable)
#define STORE(variable, value) ((variable) = (value))
#else
#include <stdatomic.h>
#define RACY(type) _Atomic(type)
#define LOAD(variable) atomic_load_explicit(&(variable), memory_order_relaxed)
#define STORE(variable, value) atomic_store_explicit(&(variable), (value), memory_order_relaxed)
#endif

#endif
