// Where each event stands in its own thread. Positions count from 1, so that a position is also a number of
// events: "the first p events of thread t" are those at positions 1 … p, and 0 means none. Clocks are made of
// positions. Memory: 8 bytes an event. Building is one pass.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "trace/core/trace.h"

namespace cleave::order {

using Position = uint32_t;
using EventNumber =
    uint32_t;  // index into Trace::events(); an index of 2^32 - 1 events is the most that fits

constexpr Position kNever = UINT32_MAX;
constexpr EventNumber kNoEvent = UINT32_MAX;

class ThreadPositions {
 public:
  explicit ThreadPositions(const Trace& trace);

  Position of(EventNumber event) const { return position_[event]; }
  EventNumber event(uint32_t thread, Position position) const {
    return events_[offset_[thread] + position - 1];
  }
  Position length(uint32_t thread) const {
    return static_cast<Position>(offset_[thread + 1] - offset_[thread]);
  }
  size_t threads() const { return offset_.size() - 1; }
  // All events of a thread, in program order; element p - 1 is at position p.
  std::span<const EventNumber> of_thread(uint32_t thread) const {
    return {events_.data() + offset_[thread], length(thread)};
  }
  // The last position of the thread whose event is not later in the trace than `event`; 0 if there is none.
  // O(log).
  Position last_not_after(uint32_t thread, EventNumber event) const;

 private:
  std::vector<Position> position_;
  std::vector<EventNumber> events_;  // grouped by thread
  std::vector<uint64_t> offset_;
};

}  // namespace cleave::order
