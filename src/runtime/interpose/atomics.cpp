// Atomic operations and fences of the program.
#include "runtime/record/state.h"
#include "runtime/record/stripes.h"
#include "runtime/schedule/control.h"

using namespace cleave::runtime;

namespace {

// Beside the ticket (60 bits) in what `begin` gives to `end`. 0: not recorded.
constexpr uint64_t kHeld = UINT64_C(1) << 62;
constexpr uint64_t kNested = UINT64_C(1)
                             << 63;  // in a handler that interrupted an operation on the same stripe
constexpr uint64_t kTicket = (UINT64_C(1) << 60) - 1;

}  // namespace

extern "C" uint64_t __cleave_atomic_begin(const cleave_segment* segment, const void* address) {
  if (!recording()) return 0;
  Thread* thread = own_thread();
  if (thread == nullptr) return 0;
  if (__builtin_expect(state.controlled, 0)) control_atomic_begin(segment);
  uint32_t stripe = cleave_stripe_of(address);
  std::atomic<uint64_t>& word = stripes[stripe].word;
  if (__builtin_expect(holds(thread, word), 0)) return take_ticket(address) | kNested;
  thread->stream->stripe =
      &word;  // before it is held, so a handler never waits for the thread it interrupted
  std::atomic_signal_fence(std::memory_order_seq_cst);
  uint64_t now = word.load(std::memory_order_relaxed);
  do {
    if (__builtin_expect(now & 1, 0)) now = await_stripe(word);
  } while (!word.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel));
  return CLEAVE_TICKET(stripe, now >> 1) | kHeld;
}

extern "C" void __cleave_atomic_end(const cleave_segment* segment, const void* address, uint64_t ticket,
                                    uint32_t op, uint32_t order, uint32_t bytes, uint64_t old_low,
                                    uint64_t old_high, uint64_t new_low, uint64_t new_high) {
  if (ticket == 0) return;
  if (ticket & kHeld) {
    std::atomic<uint64_t>& word = *current_thread->stream->stripe;
    word.store(word.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    current_thread->stream->stripe = nullptr;
  }
  if (!recording()) return;
  if (__builtin_expect(state.controlled, 0)) control_atomic_end(old_low, new_low);
  bool wide = bytes == 16;
  uint64_t how = op | order << 8 | (wide ? 8 : bytes) << 16;
  record(kRecord_atomic, word_of(segment), word_of(address), ticket & kTicket, how, old_low, new_low);
  if (wide)
    record(kRecord_atomic, word_of(segment), word_of(address) + 8, ticket & kTicket, how, old_high, new_high);
}

extern "C" void __cleave_fence(const cleave_segment* segment, uint32_t order) {
  if (recording()) record(kRecord_fence, word_of(segment), order, stamp_now());
}
