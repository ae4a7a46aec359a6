// Small random consistent traces, made by running random tiny thread programs: whatever comes out, some
// execution really does it. The same seed and options give the same trace on every machine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/random.h"
#include "oracle/machine.h"
#include "trace/core/trace.h"

namespace cleave::oracle {

struct GeneratorOptions {
  uint32_t min_threads = 2, max_threads = 4;
  uint32_t events_per_thread = 5;  // about; pairs (acquire and release, begin and end) are never cut in two
  uint32_t variables = 2;
  uint32_t values = 3;  // written values are below this
  uint32_t locks = 2;
  bool mutexes = true;  // nested, and hand over hand
  bool rw_locks = true;
  bool conditions = true;  // wait, wake, signal, broadcast
  bool semaphores = true;
  bool barriers = true;
  bool fork_join = true;  // else all threads simply exist
  bool updates = true;
  bool branches = true;
  bool units = true;
};

// Accesses and units only, for what is decided on memory alone.
GeneratorOptions memory_only();

// A consistent trace in which every thread runs to its end.
Trace generate(uint64_t seed, const GeneratorOptions& options = {});

// Removes what is not needed: events, pairs of events of a thread, whole threads, as long as the rest is a
// consistent trace and `fails` still holds for it. Returns a trace from which nothing more can be removed.
Trace shrink(const Trace& trace, const std::function<bool(const Trace&)>& fails);

// The text form (docs/contract.md), for messages of failing tests.
std::string to_text(const Trace& trace);

}  // namespace cleave::oracle
