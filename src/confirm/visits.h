// How often a thread had come to a place of the program when an event happened, as a plan's scheduler counts
// it: once for each access, atomic operation or call of that kind at that place, however much memory it
// touches. A trace's events do not tell that (a copy has an event for every word); the records that they were
// read from do.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace cleave {
struct RecordedTrace;
}

namespace cleave::confirm {

class RecordedVisits {
 public:
  // One pass over the records. The trace must outlive it.
  explicit RecordedVisits(const RecordedTrace& recorded);

  // Whether there are records at all: a text trace has none.
  bool known() const { return !visits_.empty(); }
  // From 1; 0: the scheduler does not come by there.
  uint64_t of(EventIndex event) const { return visits_.empty() ? 0 : visits_[raw(event)]; }

 private:
  std::vector<uint32_t> visits_;  // by event
};

}  // namespace cleave::confirm
