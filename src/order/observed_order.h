// What came before what in the recorded run for a reason: program order, reads-from, and each synchronization
// with the partner it had (fork and join, the signal that woke, the post that let down, the barrier's
// generation, once). Locks are left out: critical sections may be reordered as long as they do not overlap.
//
// A set of events that is closed under this order, and under the rule for locks in analysis/predict, keeps
// every read's write when it is run in the recorded order: that is the under-approximate model. Also holds
// the sources: which write each read saw. Cost: one pass; a read of another thread's fresh write costs
// O(threads known).
#pragma once

#include "order/clock_history.h"
#include "order/sync_index.h"

namespace cleave::order {

class ObservedOrder {
 public:
  ObservedOrder(const Trace& trace, const ThreadPositions& positions, const SyncIndex& syncs);

  // The write or update that the read or update `event` read from; kNoEvent if it read the initial value.
  EventNumber source(EventNumber event) const { return sources_[event]; }
  Position known(uint32_t t, Position at, uint32_t u) const { return history_.known(t, at, u); }
  const ClockHistory& history() const { return history_; }

 private:
  friend class ObservedOrderBuilder;
  ClockHistory history_;
  std::vector<EventNumber> sources_;
};

}  // namespace cleave::order
