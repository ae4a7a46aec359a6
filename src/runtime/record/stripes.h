// Tickets (abi/order.h). A stripe is one word: twice the next number, plus one while an atomic operation
// holds it.
//
// Synchronization operations only take a number. An atomic operation of the program holds the stripe from
// before the operation until after it, so the number is exact for plain atomics too, which have no moment at
// which they "hold". A signal handler may interrupt the holder: it takes its number from under it and leaves
// the stripe held.
#pragma once

#include <atomic>

#include "abi/order.h"
#include "runtime/record/state.h"

namespace cleave::runtime {

struct alignas(64) Stripe {
  std::atomic<uint64_t> word{0};
};
extern Stripe stripes[CLEAVE_STRIPES];

// Whether this thread, or what it interrupted, is in an atomic operation on the stripe.
inline bool holds(const Thread* thread, const std::atomic<uint64_t>& word) {
  if (thread == nullptr) return false;
  if (__builtin_expect(thread->main.stripe == &word, 0)) return true;
  for (uint32_t i = 0; i < thread->handler_depth && i < kHandlerDepth; ++i)
    if (thread->handlers[i] != nullptr && thread->handlers[i]->main.stripe == &word) return true;
  return false;
}

// Waits until nobody holds the stripe. Returns its word.
uint64_t await_stripe(std::atomic<uint64_t>& word);

// The next number of the object's stripe.
inline uint64_t take_ticket(const volatile void* object) {
  uint32_t stripe = cleave_stripe_of(const_cast<const void*>(object));
  std::atomic<uint64_t>& word = stripes[stripe].word;
  uint64_t now = word.load(std::memory_order_relaxed);
  for (;;) {
    if (__builtin_expect(now & 1, 0) && !holds(current_thread, word)) now = await_stripe(word);
    if (word.compare_exchange_weak(now, now + 2, std::memory_order_acq_rel)) break;
  }
  return CLEAVE_TICKET(stripe, (now + 1) >> 1);  // from under its holder: the number after the holder's
}

// The operation that the stream was in will not end: a handler jumped out of it.
void drop_stripe(Stream& stream);
// In the child of a fork: the holders are gone, and its file begins with the first ticket of each.
void reset_stripes();

}  // namespace cleave::runtime
