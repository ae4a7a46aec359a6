#include "prove/plans.h"

#include <algorithm>

namespace cleave::prove {
namespace {

using prediction::Candidate;
using prediction::EventNumber;
using prediction::Triple;

// More milestones than these are not worth a plan: the scheduler looks at them one by one.
constexpr size_t kMostMilestones = 20'000;

bool takes_lock(EventKind kind) { return kind == EventKind::Acquire || kind == EventKind::AcquireShared; }
bool is_lock(EventKind kind) {
  return takes_lock(kind) || kind == EventKind::Release || kind == EventKind::ReleaseShared;
}

class Plans {
 public:
  Plans(const prediction::Facts& facts, const Candidate& candidate, std::string* problem)
      : facts_(facts), candidate_(candidate), problem_(problem) {}

  std::vector<CandidatePlan> make(size_t most) {
    const Triple& triple = candidate_.triple();
    add(with_followers(triple));
    if (std::vector<EventNumber> events = whole_order(); !events.empty()) add(events, true);
    if (std::vector<EventNumber> events = with_locks(); !events.empty()) add(events);
    add({triple.first, triple.remote, triple.second});
    for (size_t r = 1; r < candidate_.representatives.size() && plans_.size() < most; ++r) {
      add(with_followers(candidate_.representatives[r]));
    }
    if (plans_.size() > most) plans_.resize(most);
    return std::move(plans_);
  }

 private:
  void add(const std::vector<EventNumber>& events, bool whole = false) {
    std::vector<EventIndex> milestones;
    for (EventNumber e : events) milestones.push_back(EventIndex{e});
    Result<Plan> plan = plan_of(facts_.trace, milestones);
    Status valid = plan ? validate(plan.value()) : Status(plan.error());
    if (!valid) {
      *problem_ = valid.error().sentence();
      return;
    }
    for (CandidatePlan& known : plans_) {
      if (known.plan != plan.value()) continue;
      known.whole_order = known.whole_order || whole;
      return;
    }
    plans_.push_back({std::move(plan).value(), whole});
  }

  // A milestone is passed when its thread comes to it. That an access is over is certain once its thread comes to the
  // next thing it does: that becomes a milestone too. And a thread that is held at an access inside a critical section
  // keeps the lock from the others: it is held where it takes the lock instead.
  std::vector<EventNumber> with_followers(const Triple& t) const {
    std::vector<EventNumber> events{t.first};
    EventNumber entry = section_of(t.second, facts_.positions.of(t.first));
    EventNumber after_first = follower(t.first);
    if (after_first < t.second && after_first != entry) events.push_back(after_first);
    if (EventNumber taken = section_of(t.remote, 0); taken != prediction::kNoEvent) events.push_back(taken);
    events.push_back(t.remote);
    if (EventNumber next = follower(t.remote); next != prediction::kNoEvent) events.push_back(next);
    if (entry != prediction::kNoEvent) events.push_back(entry);
    events.push_back(t.second);
    return events;
  }

  // Where the access's thread took the first of the locks that it holds there and took after position `after`.
  EventNumber section_of(EventNumber access, prediction::Position after) const {
    uint32_t thread = facts_.thread(access);
    prediction::Position at = facts_.positions.of(access), taken = prediction::kNever;
    for (const order::HeldLock& held : facts_.locks->held(facts_.locks->at(access))) {
      const order::CriticalSection* section = facts_.locks->section_at(held.use.lock, thread, at);
      if (section && section->acquired > after) taken = std::min(taken, section->acquired);
    }
    if (taken == prediction::kNever) return prediction::kNoEvent;
    EventNumber event = facts_.positions.event(thread, taken);
    bool plain = takes_lock(facts_.event(event).kind) && facts_.event(event).site != kNone<SiteId>;
    return plain ? event : prediction::kNoEvent;
  }

  EventNumber follower(EventNumber e) const {
    uint32_t thread = facts_.thread(e);
    prediction::Position last = std::min(facts_.positions.length(thread), facts_.positions.of(e) + 64);
    for (prediction::Position at = facts_.positions.of(e) + 1; at <= last; ++at) {
      EventNumber next = facts_.positions.event(thread, at);
      const Event& event = facts_.event(next);
      bool fits = is_access(event.kind) || is_lock(event.kind);
      if (fits && event.site != kNone<SiteId> && event.site != facts_.event(e).site) return next;
    }
    return prediction::kNoEvent;
  }

  // What other threads can notice, and where a thread can be held.
  bool noticed(EventNumber e) const {
    const Event& event = facts_.event(e);
    if (event.site == kNone<SiteId> || facts_.trace.site(event.site).line == 0) return false;
    if (is_access(event.kind)) return facts_.accesses.shared(event.object);
    switch (event.kind) {
      case EventKind::Wait:
      case EventKind::Signal:
      case EventKind::Broadcast:
      case EventKind::Post:
      case EventKind::Down: return true;
      default: return is_lock(event.kind);
    }
  }

  // Where the model goes from one thread to another: the last thing that the one does, and the first that the other
  // does. In between a thread runs alone, so these say the whole order.
  std::vector<EventNumber> whole_order() const {
    std::vector<EventNumber> seen, events;
    for (EventNumber e : candidate_.symbolic_order) {
      if (noticed(e)) seen.push_back(e);
    }
    for (size_t i = 0; i < seen.size() && events.size() <= kMostMilestones; ++i) {
      bool first = i == 0 || facts_.thread(seen[i - 1]) != facts_.thread(seen[i]);
      bool last = i + 1 == seen.size() || facts_.thread(seen[i + 1]) != facts_.thread(seen[i]);
      if (first || last) events.push_back(seen[i]);
    }
    return events.size() > kMostMilestones ? std::vector<EventNumber>{} : events;
  }

  // The three accesses and, in between, in which order the two threads take and give back their locks, as the solver or
  // the reordering has it. Empty if neither is about this triple.
  std::vector<EventNumber> with_locks() const {
    const Triple& t = candidate_.triple();
    std::vector<EventNumber> order = candidate_.symbolic_order;
    if (order.empty() && candidate_.reordering) order = candidate_.reordering->tail;
    if (order.empty() || order.back() != t.second) return {};
    auto first = std::find(order.begin(), order.end(), t.first);
    std::vector<EventNumber> events{t.first};
    for (auto at = first == order.end() ? order.begin() : first + 1; at != order.end(); ++at) {
      const Event& event = facts_.event(*at);
      bool ours = facts_.thread(*at) == facts_.thread(t.first) || facts_.thread(*at) == facts_.thread(t.remote);
      bool held = is_lock(event.kind) && ours && event.site != kNone<SiteId>;
      if (*at == t.remote || *at == t.second || held) events.push_back(*at);
    }
    return events;
  }

  const prediction::Facts& facts_;
  const Candidate& candidate_;
  std::string* problem_;
  std::vector<CandidatePlan> plans_;
};

}  // namespace

std::vector<CandidatePlan> plans_for(const prediction::Facts& facts, const prediction::Candidate& candidate, size_t most,
                                     std::string* problem) {
  return Plans(facts, candidate, problem).make(most);
}

}  // namespace cleave::prove
