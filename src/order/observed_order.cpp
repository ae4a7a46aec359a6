#include "order/observed_order.h"

#include <deque>

#include "order/lock_operations.h"

namespace cleave::order {

class ObservedOrderBuilder {
 public:
  ObservedOrderBuilder(const Trace& trace, const ThreadPositions& positions, const SyncIndex& syncs,
                       ClockHistory& history, std::vector<EventNumber>& sources)
      : trace_(trace),
        positions_(positions),
        syncs_(syncs),
        history_(history),
        sources_(sources),
        last_write_(trace.variables().size(), kNoEvent),
        forked_(trace.threads().size(), kNoEvent),
        waits_(trace.threads().size(), kNoEvent),
        locks_(trace) {
    sources_.assign(trace.size(), kNoEvent);
  }

  void run() {
    for (size_t e = 0; e < trace_.size(); ++e) step(static_cast<EventNumber>(e), trace_.events()[e]);
  }

 private:
  struct Signal {
    EventNumber event;
    bool broadcast;
    bool spent = false;
  };
  struct Barrier {
    std::vector<EventNumber> arriving, complete;  // the open generation, and the one that is passing
  };

  void step(EventNumber e, const Event& event) {
    if (is_access(event.kind)) {
      access(e, event);
      if (positions_.of(e) != 1) return;
    }
    Position at = positions_.of(e);
    uint32_t t = raw(event.thread);
    if (at == 1 && forked_[t] != kNoEvent) after(e, forked_[t]);
    keep_irregular(e, event);
    switch (event.kind) {
      case EventKind::Fork:
        forked_[raw(event.other())] = e;
        break;
      case EventKind::Join:
        history_.join(t, at, raw(event.other()), positions_.last_not_after(raw(event.other()), e));
        break;
      case EventKind::OnceAbort:
      case EventKind::OnceEnd:
        once_[event.object] = e;
        break;
      case EventKind::OnceBegin:  // after the attempt before it was left
      case EventKind::OnceSeen:
        if (auto end = once_.find(event.object); end != once_.end()) after(e, end->second);
        break;
      case EventKind::Arrive:
        arrive(e, event);
        break;
      case EventKind::Pass:
        for (EventNumber other : barriers_[event.object].complete) after(e, other);
        break;
      case EventKind::Signal:
      case EventKind::Broadcast:  // heard by nobody unless somebody waits
        if (waiting_[event.object] > 0) {
          signals_[event.object].push_back({e, event.kind == EventKind::Broadcast});
        }
        break;
      case EventKind::Wait:
        wait(e, event);
        break;
      case EventKind::Wake:
        wake(e, event);
        break;
      case EventKind::Post:
        posts_[event.object].push_back(e);
        break;
      case EventKind::Down:
        down(e, event);
        break;
      default:
        break;
    }
  }

  void after(EventNumber e, EventNumber earlier) {
    history_.join(raw(trace_.events()[e].thread), positions_.of(e), raw(trace_.events()[earlier].thread),
                  positions_.of(earlier));
  }

  // A lock that does not exclude as locks do keeps the recorded order of all its operations.
  void keep_irregular(EventNumber e, const Event& event) {
    LockOperation operation = locks_.of(event);
    if (operation.kind == LockOperation::None || !locks_.irregular()[operation.lock]) return;
    auto [last, fresh] = last_operation_.try_emplace(operation.lock, e);
    if (!fresh) after(e, last->second);
    last->second = e;
  }

  void access(EventNumber e, const Event& event) {
    EventNumber& last = last_write_[event.object];
    if (reads(event.kind)) {
      sources_[e] = last;
      if (last != kNoEvent && trace_.events()[last].thread != event.thread) after(e, last);
    }
    if (writes(event.kind)) last = e;
  }

  // With more users than parties, who meets whom depends on the order of arrivals: keep generations one after
  // another.
  void arrive(EventNumber e, const Event& event) {
    Barrier& barrier = barriers_[event.object];
    const SyncUse* use = syncs_.use(event.sync());
    if (use->arrivals.size() > use->parties) {
      for (EventNumber other : barrier.complete) after(e, other);
    }
    barrier.arriving.push_back(e);
    if (barrier.arriving.size() >= use->parties) {
      barrier.complete = std::move(barrier.arriving);
      barrier.arriving.clear();
    }
  }

  void wait(EventNumber e, const Event& event) {
    waits_[raw(event.thread)] = e;
    ++waiting_[event.object];
  }

  // Each signal wakes one waiter at most: the earliest that is left and came after the wait began is taken.
  void wake(EventNumber e, const Event& event) {
    EventNumber slept = waits_[raw(event.thread)];
    if (slept == kNoEvent) return;
    waits_[raw(event.thread)] = kNoEvent;
    std::deque<Signal>& signals = signals_[event.object];
    if (event.value == 0) {
      for (Signal& signal : signals) {
        if (signal.event < slept || signal.spent) continue;
        if (trace_.events()[signal.event].thread == event.thread) continue;
        after(e, signal.event);
        signal.spent = !signal.broadcast;
        break;
      }
    }
    // Nobody who starts to wait now can use what is past: with no waiter left the list starts afresh.
    if (--waiting_[event.object] == 0) signals.clear();
    while (!signals.empty() && signals.front().spent) signals.pop_front();
  }

  void down(EventNumber e, const Event& event) {
    std::vector<EventNumber>& posts = posts_[event.object];
    uint64_t number = downs_[event.object]++;
    uint64_t tokens = syncs_.use(event.sync())->tokens;
    if (number >= tokens && number - tokens < posts.size()) after(e, posts[number - tokens]);
  }

  const Trace& trace_;
  const ThreadPositions& positions_;
  const SyncIndex& syncs_;
  ClockHistory& history_;
  std::vector<EventNumber>& sources_;
  std::vector<EventNumber> last_write_, forked_, waits_;
  LockOperations locks_;
  boost::unordered_flat_map<uint32_t, EventNumber> once_, last_operation_;
  boost::unordered_flat_map<uint32_t, Barrier> barriers_;
  boost::unordered_flat_map<uint32_t, std::deque<Signal>> signals_;
  boost::unordered_flat_map<uint32_t, int64_t> waiting_;
  boost::unordered_flat_map<uint32_t, std::vector<EventNumber>> posts_;
  boost::unordered_flat_map<uint32_t, uint64_t> downs_;
};

ObservedOrder::ObservedOrder(const Trace& trace, const ThreadPositions& positions, const SyncIndex& syncs)
    : history_(trace.threads().size()) {
  ObservedOrderBuilder(trace, positions, syncs, history_, sources_).run();
}

}  // namespace cleave::order
