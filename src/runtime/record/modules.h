// Modules (translation units) with instrumented code: what they told us, and what is left of those that are
// gone.
#pragma once

#include <stdint.h>
#include <atomic>

#include "abi/record.h"

namespace cleave::runtime {

// MODULE chunks of everything that is loaded: for the file of a forked child.
bool write_all_modules();

extern std::atomic<uint32_t> unloaded_count;  // libraries
const cleave_segment* segment_among_unloaded(uint64_t address);

// The segment behind a record's header, also when its library was unloaded before the record was encoded.
inline const cleave_segment* segment_at(uint64_t address) {
  if (__builtin_expect(unloaded_count.load(std::memory_order_acquire) != 0, 0))
    return segment_among_unloaded(address);
  return reinterpret_cast<const cleave_segment*>(address);
}

}  // namespace cleave::runtime
