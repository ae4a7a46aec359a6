// All that the stages know of a trace, built once and shared: positions, must-order, lock states, the
// accesses of shared locations and the program locations they come from. docs/predict.md explains the stages.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "findings/finding.h"
#include "order/lock_states.h"
#include "order/observed_order.h"
#include "order/positions.h"
#include "order/sync_index.h"
#include "order/sync_order.h"
#include "trace/core/trace.h"
#include "units/units.h"

namespace cleave::prediction {

using order::EventNumber;
using order::kNever;
using order::kNoEvent;
using order::Position;

// Consecutive accesses `first`, `second` of one unit to one location, and an access of another thread to it.
struct Triple {
  EventNumber first, remote, second;
  friend auto operator<=>(const Triple&, const Triple&) = default;
};

// The unserializable pattern that three kinds of access form, or None. An update is a read and a write; of
// several patterns the first of RWR, WWR, RWW, WRW, WWW.
Pattern pattern_of(EventKind first, EventKind remote, EventKind second);

// Accesses of the locations that at least two threads access and at least one writes; nothing else can be in
// a triple, nor change what a thread reads. 4 bytes an access.
class SharedAccesses {
 public:
  explicit SharedAccesses(const Trace& trace);

  // Accesses of the location in trace order; empty if it is not shared.
  std::span<const EventNumber> of(uint32_t variable) const {
    return {events_.data() + offset_[variable], events_.data() + offset_[variable + 1]};
  }
  bool shared(uint32_t variable) const { return offset_[variable] != offset_[variable + 1]; }
  size_t variables() const { return offset_.size() - 1; }
  size_t count() const { return events_.size(); }

 private:
  std::vector<uint64_t> offset_;
  std::vector<EventNumber> events_;
};

// A program location: a site and a kind of access. In traces without sites the thread and the variable stand
// for it.
enum class PlaceId : uint32_t {};

struct TraceIndex {
  TraceIndex(const Trace& trace, const UnitMap& units);

  const Event& event(EventNumber e) const { return trace.events()[e]; }
  uint32_t thread(EventNumber e) const { return raw(trace.events()[e].thread); }

  const Trace& trace;
  const UnitMap& units;
  order::ThreadPositions positions;
  order::SyncIndex syncs;
  SharedAccesses accesses;
  std::optional<order::SyncOrder> must;          // built by stage order
  std::optional<order::LockStates> locks;        // built by stage locks
  std::optional<order::ObservedOrder> observed;  // built by stage filter or exact
};

}  // namespace cleave::prediction
