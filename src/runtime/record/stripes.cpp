#include "runtime/record/stripes.h"

namespace cleave::runtime {

Stripe stripes[CLEAVE_STRIPES];

uint64_t await_stripe(std::atomic<uint64_t>& word) {
  for (unsigned turn = 0;; ++turn) {
    uint64_t now = word.load(std::memory_order_relaxed);
    if ((now & 1) == 0) return now;
    if (turn < 128)
      __builtin_ia32_pause();
    else
      yield_processor();  // its holder has lost the processor in the middle of the operation
  }
}

void drop_stripe(Stream& stream) {
  std::atomic<uint64_t>* word = stream.stripe;
  stream.stripe = nullptr;
  if (word == nullptr) return;
  uint64_t now = word->load(std::memory_order_relaxed);
  if (now & 1) word->store(now + 1, std::memory_order_release);
}

void reset_stripes() {
  for (Stripe& stripe : stripes) stripe.word.store(0, std::memory_order_relaxed);
}

}  // namespace cleave::runtime
