// Random traces for round trips: everything that a Trace can hold, including names that are hard to write
// down.
#pragma once

#include "base/random.h"
#include "trace/core/trace.h"

namespace cleave {

struct GenerateOptions {
  bool plain = false;  // only what a hand-written text trace says: no addresses, contexts, awkward names
  size_t events = 60;
};

Trace generate_trace(uint64_t seed, const GenerateOptions& options = {});

}  // namespace cleave
