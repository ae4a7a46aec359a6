// Is a trace a possible execution? Walks it once in its total order through a plain model of memory, locks,
// condition variables, semaphores, barriers, once flags and the life of threads, and says where it does not
// hold.
//
// A read must return the last write before it. In a recorded program there is memory that code without
// instrumentation writes, and plain accesses that race, whose order can only be guessed: such reads are
// counted by site and do not break the trace. A read breaks it when the order is exact (both accesses atomic)
// or the trace was written by hand. Memory: a few words for each variable, synchronization object and thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/core/stream.h"

namespace cleave {

struct Violation {
  uint64_t event = 0;  // position in the total order
  std::string sentence;
};

struct UnexplainedSite {
  SiteId site = kNone<SiteId>;
  uint64_t unwritten = 0;  // reads of a value that code outside wrote, as far as the trace tells
  uint64_t misplaced = 0;  // reads of a value that another thread wrote elsewhere in the order, without
                           // anything that orders the two: a race
  std::string example;     // the first of them
};

struct Validation {
  uint64_t events = 0, reads = 0;
  uint64_t violations_found = 0;
  std::vector<Violation> violations;         // the first 100
  uint64_t unwritten = 0, misplaced = 0;     // sums of the sites
  std::vector<UnexplainedSite> unexplained;  // most first
  uint64_t spurious_wakes = 0;               // without a signal, which is allowed
  uint64_t open_locks = 0, open_units = 0;   // at the end
  bool complete = true;
  bool holds() const { return violations_found == 0; }
};

Result<Validation> validate_trace(EventSource& source);

}  // namespace cleave
