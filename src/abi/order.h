/* Exact order without a table of objects: 4096 stripes, each a counter on a cache line of its own. An
 * operation takes its number from the stripe that its object's address hashes to, while the operation holds
 * (after an acquire, before a release). The numbers of one stripe are then in the order in which things
 * happened, for every object in it. */
#ifndef CLEAVE_ABI_ORDER_H
#define CLEAVE_ABI_ORDER_H

#include <stdint.h>

#define CLEAVE_STRIPES 4096u

static inline uint32_t cleave_stripe_of(const void* address) {
  return (uint32_t)(((uint64_t)(uintptr_t)address >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 52);
}

#define CLEAVE_TICKET(stripe, number) ((uint64_t)(stripe) << 48 | (number))
#define CLEAVE_TICKET_STRIPE(ticket) ((uint32_t)((ticket) >> 48))
#define CLEAVE_TICKET_NUMBER(ticket) ((ticket) & ((UINT64_C(1) << 48) - 1))

#endif
