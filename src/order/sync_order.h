// What comes before what in every reordering of the recorded events that synchronization permits: the order
// that stage `order` of predict relies on. It holds for every prefix-closed interleaving in which each thread
// does its recorded events, whatever values are read:
//
//   fork before the child's first event; the child's last event before join; once-end before once-seen;
//   once: an attempt that was left before the next one (who tries first is taken as recorded);
//   barrier: the n-th arrivals of all parties before each n-th pass, where the parties are the only users
//   (with more
//     users than parties who meets whom may change, and nothing must);
//   condition: a wake needs a signal or broadcast that came after its wait began. Which one may change, so it
//   comes
//     after what all signals that could do it have in common. A wake that timed out, or that nothing in the
//     recorded run explains (spurious), needs none;
//   memory: its allocation before its use; under a common lock, all of the section that allocates
//   (allocations.h); semaphore: the n-th down needs n - tokens posts; it comes after the posts that are
//   needed whoever posts the rest.
//
// Otherwise locks order nothing here: which critical section comes first may change. Cost: one pass,
// O(threads) a wake or down.
#pragma once

#include "order/clock_history.h"
#include "order/sync_index.h"

namespace cleave::order {

class SyncOrder {
 public:
  SyncOrder(const Trace& trace, const ThreadPositions& positions, const SyncIndex& syncs);

  // Whether `a` comes before `b` in every reordering that has b. O(log).
  bool before(EventNumber a, EventNumber b) const;
  // How many of u's first events come before t's event at position `at`.
  Position known(uint32_t t, Position at, uint32_t u) const { return history_.known(t, at, u); }
  // The first position of u whose event comes after t's event at position `at`; kNever if none must.
  Position first_after(uint32_t t, Position at, uint32_t u) const { return history_.first_knowing(u, t, at); }

  const ClockHistory& history() const { return history_; }

 private:
  friend class MustOrderBuilder;
  const Trace* trace_;
  const ThreadPositions* positions_;
  ClockHistory history_;
};

}  // namespace cleave::order
