// Modules (translation units) with instrumented code: what they told us, and what is left of those that are gone.
#pragma once

#include <stdint.h>

#include "abi/record.h"

namespace cleave::runtime {

// MODULE chunks of everything that is loaded: for the file of a forked child.
bool write_all_modules();

// The segment behind a record's header, also when its library was unloaded before the record was encoded.
const cleave_segment* segment_at(uint64_t address);

}  // namespace cleave::runtime
