#include "confirm/plans.h"

#include <algorithm>

namespace cleave::confirm {
namespace {

bool takes_lock(EventKind kind) { return kind == EventKind::Acquire || kind == EventKind::AcquireShared; }

bool gives_lock(EventKind kind) { return kind == EventKind::Release || kind == EventKind::ReleaseShared; }

}  // namespace

std::vector<prediction::EventNumber> Planner::plan(const prediction::Candidate& candidate,
                                                   unsigned attempt) const {
  std::vector<EventNumber> events = attempt_at(candidate, attempt);
  std::erase_if(events, [this](EventNumber event) {
    const EventKind kind = facts_.event(event).kind;
    return (takes_lock(kind) || gives_lock(kind)) && !fits(event);
  });
  return events;
}

std::vector<prediction::EventNumber> Planner::attempt_at(const prediction::Candidate& candidate,
                                                         unsigned attempt) const {
  const std::vector<Triple> triples = by_promise(candidate);
  switch (attempt) {
    case 0: {
      std::vector<EventNumber> events = along_model(candidate);
      return events.empty() ? with_followers(triples[0]) : events;
    }
    case 1:
      return pausing(triples[0], Others::GoOn);
    case 2:
      return with_locks(candidate);
    case 3:
      return with_followers(triples[0]);
    case 4:
      return pausing(triples[0], Others::Free);
    case 5:
      return remote_waits(triples[0]);
    case 6:
      return {triples[0].first, triples[0].remote, triples[0].second};
    default:
      break;
  }
  const size_t other = 1 + (attempt - 7) / 2;
  if (other >= triples.size()) return {};
  return attempt % 2 == 1 ? pausing(triples[other], Others::GoOn) : with_followers(triples[other]);
}

// A remote access that leaves what the first one saw can hardly convict: those come last, but for the second
// choice.
std::vector<prediction::Triple> Planner::by_promise(const prediction::Candidate& candidate) const {
  auto changes = [this](const Triple& triple) {
    return facts_.event(triple.remote).value != facts_.event(triple.first).value;
  };
  std::vector<Triple> triples, rest;
  for (const Triple& triple : candidate.representatives) (changes(triple) ? triples : rest).push_back(triple);
  triples.insert(triples.end(), rest.begin(), rest.end());
  // What the one kind of holding cannot show the other may: the nearest of the other kind is the second
  // choice.
  auto comes_later = [](const Triple& triple) { return triple.remote > triple.second; };
  auto other = std::find_if(triples.begin() + 1, triples.end(), [&](const Triple& triple) {
    return comes_later(triple) != comes_later(triples[0]);
  });
  if (other != triples.end()) std::rotate(triples.begin() + 1, other, other + 1);
  return triples;
}

// Only these are milestones: the runtime counts visits of segments, and these are certain to be in one. A
// lock that the program made itself is not: its atomic operation is.
bool Planner::fits(EventNumber event) const {
  const Event& what = facts_.event(event);
  if (visits_ != nullptr && visits_->known() && visits_->of(EventIndex{event}) == 0) return false;
  return (is_access(what.kind) || takes_lock(what.kind) || gives_lock(what.kind)) &&
         what.site != kNone<SiteId>;
}

// What other threads can notice. Small functions of the library's headers are inlined several times into one
// segment, and without the records nobody can tell how often the runtime came by: their accesses are left out
// then.
bool Planner::marks_change(EventNumber event) const {
  const Event& what = facts_.event(event);
  const bool known = visits_ != nullptr && visits_->known();
  if (what.site == kNone<SiteId> || (!known && facts_.trace.site(what.site).line == 0)) return false;
  if (known && visits_->of(EventIndex{event}) == 0) return false;
  if (is_access(what.kind)) {
    return facts_.accesses.shared(what.object) &&
           (known || !facts_.trace.site(what.site).file.starts_with("/usr/"));
  }
  switch (what.kind) {
    case EventKind::Wait:
    case EventKind::Signal:
    case EventKind::Broadcast:
    case EventKind::Post:
    case EventKind::Down:
      return true;
    default:
      return takes_lock(what.kind) || gives_lock(what.kind);
  }
}

bool Planner::is_model(const prediction::Candidate& candidate, unsigned attempt) const {
  return attempt == 0 && !candidate.symbolic_order.empty() &&
         candidate.symbolic_order.back() == candidate.triple().second;
}

std::vector<prediction::EventNumber> Planner::along_model(const prediction::Candidate& candidate) const {
  std::vector<EventNumber> order = candidate.symbolic_order;
  if (order.empty() && candidate.reordering) order = candidate.reordering->events(facts_);
  if (order.empty() || order.back() != candidate.triple().second) return {};
  return changes_of(order, candidate.triple());
}

// Where a thread gives way to another: what it comes to last, and what the other comes to first. And the
// triple.
std::vector<prediction::EventNumber> Planner::changes_of(const std::vector<EventNumber>& order,
                                                         const Triple& triple) const {
  std::vector<EventNumber> backwards;
  size_t changes = 0;
  for (size_t end = order.size(); end > 0 && changes < kChanges; ++changes) {
    size_t begin = end;
    while (begin > 0 && facts_.thread(order[begin - 1]) == facts_.thread(order[end - 1])) --begin;
    EventNumber first = prediction::kNoEvent, last = prediction::kNoEvent;
    for (size_t at = begin; at < end && first == prediction::kNoEvent; ++at) {
      if (marks_change(order[at])) first = order[at];
    }
    for (size_t at = end; at > begin && last == prediction::kNoEvent; --at) {
      if (marks_change(order[at - 1])) last = order[at - 1];
    }
    for (size_t at = end; at > begin; --at) {
      EventNumber e = order[at - 1];
      bool of_triple = e == triple.first || e == triple.remote || e == triple.second;
      if (e == first || e == last || of_triple) backwards.push_back(e);
    }
    end = begin;
  }
  std::reverse(backwards.begin(), backwards.end());
  return backwards;
}

// The recorded order, but for one of the two threads that is held for a while: the unit's behind its first
// access if the remote one came later, else the remote thread before its access. A guess: what others do then
// may not be possible.
std::vector<prediction::EventNumber> Planner::pausing(const Triple& triple, Others others) const {
  const uint32_t unit = facts_.thread(triple.first), remote = facts_.thread(triple.remote);
  const Position cut = cut_of(triple), remote_end = section_end(triple.remote);
  if (cut == prediction::kNever || facts_.positions.of(triple.second) <= cut) return {};
  const bool remote_is_later = triple.remote > triple.second;
  if (!remote_is_later && triple.remote > triple.first) return {};  // it was seen as it is
  EventNumber entry = section_of(triple.remote, 0);
  const EventNumber held_at = entry == prediction::kNoEvent ? triple.remote : entry;
  const EventNumber pause = facts_.positions.event(unit, cut);
  // Until both stand where they are to stand, then the remote thread, then the unit.
  std::vector<EventNumber> order;
  const EventNumber until = remote_is_later ? triple.remote : pause;
  const EventNumber alone_from = remote_is_later ? pause : held_at;
  const uint32_t alone = remote_is_later ? remote : unit;
  for (EventNumber e = 0; e <= until; ++e) {
    const uint32_t thread = facts_.thread(e);
    if (thread == unit && facts_.positions.of(e) > cut) continue;
    if (thread == remote && e >= held_at) continue;
    if (e > alone_from && others == Others::Free && thread != alone) continue;
    order.push_back(e);
  }
  for (Position at = facts_.positions.of(held_at); at <= remote_end; ++at)
    order.push_back(facts_.positions.event(remote, at));
  for (Position at = cut + 1; at <= facts_.positions.of(triple.second); ++at) {
    order.push_back(facts_.positions.event(unit, at));
  }
  return changes_of(order, triple);
}

// The last position before the second access at which the unit's thread holds nothing that the remote access
// needs.
prediction::Position Planner::cut_of(const Triple& triple) const {
  const uint32_t unit = facts_.thread(triple.first);
  const Position from = facts_.positions.of(triple.first), to = facts_.positions.of(triple.second);
  const order::LockStateId remote = facts_.locks->at(triple.remote);
  if (facts_.locks->compatible(facts_.locks->at(unit, to - 1), remote)) return to - 1;
  std::vector<Position> changes = facts_.locks->changes(unit, from, to);
  for (auto at = changes.rbegin(); at != changes.rend(); ++at) {
    if (facts_.locks->compatible(facts_.locks->at(unit, *at), remote)) return *at;
  }
  return prediction::kNever;
}

// The position at which the thread is out of the critical sections around the access; the access if there is
// none.
prediction::Position Planner::section_end(EventNumber access) const {
  const uint32_t thread = facts_.thread(access);
  const Position at = facts_.positions.of(access);
  Position end = at;
  for (const order::HeldLock& held : facts_.locks->held(facts_.locks->at(access))) {
    const order::CriticalSection* section = facts_.locks->section_at(held.use.lock, thread, at);
    if (section && section->released != prediction::kNever) end = std::max(end, section->released);
  }
  return end;
}

// A milestone is passed when its thread comes to it. That an access is over is certain once its thread comes
// to the next thing it does: that becomes a milestone too. And a thread that is held at an access inside a
// critical section keeps the lock from the others: it is held where it takes the lock instead.
std::vector<prediction::EventNumber> Planner::with_followers(const Triple& t) const {
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

// The remote thread goes first, as far as it comes before its access: what it has done until then is what the
// unit's first access shall see. Then as above.
std::vector<prediction::EventNumber> Planner::remote_waits(const Triple& t) const {
  const EventNumber entry = section_of(t.remote, 0),
                    held_at = entry == prediction::kNoEvent ? t.remote : entry;
  for (Position at = facts_.positions.of(held_at); at-- > 0;) {
    const EventNumber before = facts_.positions.event(facts_.thread(t.remote), at);
    if (!fits(before) || !marks_change(before)) continue;
    std::vector<EventNumber> events{before}, rest = with_followers(t);
    events.insert(events.end(), rest.begin(), rest.end());
    return events;
  }
  return {};
}

// Where the access's thread took the first of the locks that it holds there and took after position `after`.
prediction::EventNumber Planner::section_of(EventNumber access, Position after) const {
  uint32_t thread = facts_.thread(access);
  Position at = facts_.positions.of(access), taken = prediction::kNever;
  for (const order::HeldLock& held : facts_.locks->held(facts_.locks->at(access))) {
    const order::CriticalSection* section = facts_.locks->section_at(held.use.lock, thread, at);
    if (section && section->acquired > after) taken = std::min(taken, section->acquired);
  }
  if (taken == prediction::kNever) return prediction::kNoEvent;
  EventNumber event = facts_.positions.event(thread, taken);
  if (takes_lock(facts_.event(event).kind) && fits(event)) return event;
  // A lock that the program made itself: the atomic operation right before.
  if (taken <= 1) return prediction::kNoEvent;
  const EventNumber atomic = facts_.positions.event(thread, taken - 1);
  const bool own = facts_.event(atomic).atomic() && fits(atomic);
  return own ? atomic : prediction::kNoEvent;
}

prediction::EventNumber Planner::follower(EventNumber e) const {
  uint32_t thread = facts_.thread(e);
  Position last = std::min(facts_.positions.length(thread), facts_.positions.of(e) + 64);
  for (Position at = facts_.positions.of(e) + 1; at <= last; ++at) {
    EventNumber next = facts_.positions.event(thread, at);
    if (fits(next) && facts_.event(next).site != facts_.event(e).site) return next;
  }
  return prediction::kNoEvent;
}

// The three accesses and, in between, in which order the two threads take and give back their locks, as the
// solver or the reordering has it. Empty if neither is about this triple.
std::vector<prediction::EventNumber> Planner::with_locks(const prediction::Candidate& candidate) const {
  const Triple& t = candidate.triple();
  std::vector<EventNumber> order = candidate.symbolic_order;
  if (order.empty() && candidate.reordering) order = candidate.reordering->tail;
  if (order.empty() || order.back() != t.second) return {};
  auto first = std::find(order.begin(), order.end(), t.first);
  std::vector<EventNumber> events{t.first};
  for (auto at = first == order.end() ? order.begin() : first + 1; at != order.end(); ++at) {
    const Event& event = facts_.event(*at);
    bool lock = takes_lock(event.kind) || gives_lock(event.kind);
    bool ours = facts_.thread(*at) == facts_.thread(t.first) || facts_.thread(*at) == facts_.thread(t.remote);
    if (*at == t.remote || *at == t.second || (lock && ours && fits(*at))) events.push_back(*at);
  }
  return events;
}

}  // namespace cleave::confirm
