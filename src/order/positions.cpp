#include "order/positions.h"

#include <algorithm>

#include "base/assert.h"

namespace cleave::order {

ThreadPositions::ThreadPositions(const Trace& trace) {
  CLEAVE_CHECK(trace.size() < kNoEvent, "a trace of more than 2^32 events has to be analysed in parts");
  std::span<const Event> events = trace.events();
  offset_.assign(trace.threads().size() + 1, 0);
  position_.resize(events.size());
  for (size_t e = 0; e < events.size(); ++e) {
    position_[e] = static_cast<Position>(++offset_[raw(events[e].thread) + 1]);
  }
  for (size_t t = 1; t < offset_.size(); ++t) offset_[t] += offset_[t - 1];
  events_.resize(events.size());
  for (size_t e = 0; e < events.size(); ++e) {
    events_[offset_[raw(events[e].thread)] + position_[e] - 1] = static_cast<EventNumber>(e);
  }
}

Position ThreadPositions::last_not_after(uint32_t thread, EventNumber event) const {
  std::span<const EventNumber> own = of_thread(thread);
  return static_cast<Position>(std::upper_bound(own.begin(), own.end(), event) - own.begin());
}

}  // namespace cleave::order
