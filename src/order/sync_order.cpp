#include "order/sync_order.h"

#include <optional>

#include "order/allocations.h"

namespace cleave::order {

// Walks the trace once; `now_[u]` is how far thread u has been walked.
class MustOrderBuilder {
 public:
  MustOrderBuilder(const Trace& trace, const ThreadPositions& positions, const SyncIndex& syncs,
                   ClockHistory& history)
      : trace_(trace),
        positions_(positions),
        syncs_(syncs),
        history_(history),
        now_(trace.threads().size(), 0),
        forked_(trace.threads().size(), kNoEvent),
        waits_(trace.threads().size()),
        passes_(trace.threads().size()),
        allocations_(trace, positions) {}

  void run() {
    for (size_t e = 0; e < trace_.size(); ++e) step(static_cast<EventNumber>(e), trace_.events()[e]);
  }

 private:
  struct Wait {
    SyncId condition = kNone<SyncId>;
    EventNumber event = kNoEvent;
  };

  void step(EventNumber e, const Event& event) {
    uint32_t t = raw(event.thread);
    Position at = positions_.of(e);
    now_[t] = at;
    if (at == 1 && forked_[t] != kNoEvent) after(t, at, forked_[t]);
    if (Allocations::Earlier earlier = allocations_.step(e, event); earlier.upto != 0) {
      if (history_.known(t, at, earlier.thread) < earlier.upto)
        history_.join(t, at, earlier.thread, earlier.upto);
    }
    switch (event.kind) {
      case EventKind::Fork:
        forked_[raw(event.other())] = e;
        break;
      case EventKind::Join:
        history_.join(t, at, raw(event.other()), now_[raw(event.other())]);
        break;
      case EventKind::OnceAbort:
      case EventKind::OnceEnd:
        once_[event.object] = e;
        break;
      case EventKind::OnceBegin:  // after the attempt before it was left
      case EventKind::OnceSeen:
        if (auto end = once_.find(event.object); end != once_.end()) after(t, at, end->second);
        break;
      case EventKind::Pass:
        pass(t, at, event.sync());
        break;
      case EventKind::Signal:
      case EventKind::Broadcast:
        last_signal_[event.object] = e;
        break;
      case EventKind::Wait:
        waits_[t] = {event.sync(), e};
        break;
      case EventKind::Wake:
        wake(t, at, event);
        break;
      case EventKind::Down:
        down(t, at, event.sync());
        break;
      default:
        break;
    }
  }

  void after(uint32_t t, Position at, EventNumber earlier) {
    history_.join(t, at, raw(trace_.events()[earlier].thread), positions_.of(earlier));
  }

  void pass(uint32_t t, Position at, SyncId barrier) {
    const SyncUse* use = syncs_.use(barrier);
    uint64_t generation = passes_[t][raw(barrier)]++;
    if (!use || use->arrivals.size() != use->parties) return;
    for (const ThreadOperations& party : use->arrivals) {
      if (generation < party.at.size() && party.at[generation] <= now_[party.thread]) {
        history_.join(t, at, party.thread, party.at[generation]);
      }
    }
  }

  // A lower bound of the clock of u's event at `at`, which may not have been walked yet: then of what is
  // known so far.
  Clock bound(uint32_t u, Position at) const {
    Clock clock = history_.clock(u, std::min(at, now_[u]));
    for (Component& c : clock) {
      if (c.thread == u) c.value = at;
    }
    return clock;
  }

  void wake(uint32_t t, Position at, const Event& event) {
    Wait wait = waits_[t];
    if (event.value != 0 || wait.condition != event.sync()) return;  // timed out, or never seen to wait
    auto last = last_signal_.find(event.object);
    if (last == last_signal_.end() || last->second < wait.event) return;  // spurious
    Position slept = positions_.of(wait.event);
    std::optional<Clock> common;
    for (const ThreadOperations& signaller : syncs_.use(event.sync())->signals) {
      if (signaller.thread == t) continue;
      // Along one thread clocks grow, so its first signal that can still come after the wait is the least of
      // them.
      uint64_t past = count_upto(signaller, history_.known(t, slept, signaller.thread));
      if (past == signaller.at.size()) continue;
      Clock clock = bound(signaller.thread, signaller.at[past]);
      common = common ? meet(*common, clock) : clock;
    }
    if (common) join_walked(t, at, *common);
  }

  // What is common to several signals may name events that the recorded run has not reached: an event of the
  // future cannot come before this one, since the recorded run itself is a reordering.
  void join_walked(uint32_t t, Position at, const Clock& clock) {
    for (const Component& c : clock) history_.raise(t, at, c.thread, std::min(c.value, now_[c.thread]));
  }

  void down(uint32_t t, Position at, SyncId semaphore) {
    const SyncUse* use = syncs_.use(semaphore);
    uint64_t downs = 0;
    for (const ThreadOperations& own : use->downs)
      downs += count_upto(own, history_.known(t, at, own.thread));
    if (downs <= use->tokens) return;
    uint64_t needed = downs - use->tokens;
    uint64_t available = 0, posters = 0;
    for (const ThreadOperations& own : use->posts) {
      if (own.thread == t) {
        uint64_t mine = count_upto(own, at);
        if (mine >= needed) return;
        needed -= mine;
      } else {
        available += own.at.size();
        ++posters;
      }
    }
    if (posters == 0) return;
    uint64_t share = (needed + posters - 1) / posters;  // somebody posted at least so many of them
    std::optional<Clock> common;
    for (const ThreadOperations& own : use->posts) {
      if (own.thread == t) continue;
      uint64_t others = available - own.at.size();
      if (needed > others) {
        Position post = own.at[std::min<uint64_t>(needed - others, own.at.size()) - 1];
        if (post <= now_[own.thread]) history_.join(t, at, own.thread, post);
      }
      if (own.at.size() >= share) {
        Clock clock = bound(own.thread, own.at[share - 1]);
        common = common ? meet(*common, clock) : clock;
      }
    }
    if (common) join_walked(t, at, *common);
  }

  const Trace& trace_;
  const ThreadPositions& positions_;
  const SyncIndex& syncs_;
  ClockHistory& history_;
  std::vector<Position> now_;
  std::vector<EventNumber> forked_;
  std::vector<Wait> waits_;
  std::vector<boost::unordered_flat_map<uint32_t, uint64_t>> passes_;
  boost::unordered_flat_map<uint32_t, EventNumber> once_, last_signal_;
  Allocations allocations_;
};

SyncOrder::SyncOrder(const Trace& trace, const ThreadPositions& positions, const SyncIndex& syncs)
    : trace_(&trace), positions_(&positions), history_(trace.threads().size()) {
  MustOrderBuilder(trace, positions, syncs, history_).run();
}

bool SyncOrder::before(EventNumber a, EventNumber b) const {
  if (a == b) return false;
  uint32_t t = raw(trace_->events()[a].thread), u = raw(trace_->events()[b].thread);
  Position at = positions_->of(a);
  return t == u ? at < positions_->of(b) : history_.known(u, positions_->of(b), t) >= at;
}

}  // namespace cleave::order
