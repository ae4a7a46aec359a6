#include "analysis/predict/filter.h"

#include <algorithm>

namespace cleave::prediction {

Filter::Filter(const TraceIndex& facts)
    : facts_(facts), reads_(facts.trace.threads().size()), writes_(facts.trace.threads().size()) {
  for (size_t e = 0; e < facts.trace.size(); ++e) {
    const Event& event = facts.trace.events()[e];
    if (!is_access(event.kind) || !facts.accesses.shared(event.object)) continue;
    if (reads(event.kind)) reads_[raw(event.thread)].push_back(static_cast<EventNumber>(e));
    if (writes(event.kind)) writes_[raw(event.thread)].push_back(static_cast<EventNumber>(e));
  }
}

bool Filter::keeps(const Triple& triple) const {
  if (triple.remote > triple.second) return !drops_later(triple);
  if (triple.remote < triple.first) return !drops_earlier(triple);
  return true;
}

bool Filter::drops_later(const Triple& triple) const {
  uint32_t unit = facts_.thread(triple.first), remote = facts_.thread(triple.remote);
  Position at_first = facts_.positions.of(triple.first), at_second = facts_.positions.of(triple.second);
  Position at_remote = facts_.positions.of(triple.remote);
  if (facts_.observed->known(remote, at_remote - 1, unit) >= at_second) return true;
  EventNumber prev = previous_access(triple.remote);
  if (prev == kNoEvent || prev < triple.first) return false;
  if (facts_.observed->known(remote, facts_.positions.of(prev), unit) >= at_first) return true;
  return some_source_changes(triple, prev);
}

bool Filter::drops_earlier(const Triple& triple) const {
  uint32_t unit = facts_.thread(triple.first), remote = facts_.thread(triple.remote);
  Position at_first = facts_.positions.of(triple.first), at_second = facts_.positions.of(triple.second);
  Position at_remote = facts_.positions.of(triple.remote);
  if (facts_.observed->known(unit, at_first - 1, remote) >= at_remote) return true;
  Position branch = last_branch(unit, at_first, at_second);
  if (branch == 0) return false;
  if (facts_.observed->known(unit, at_first, remote) >= at_remote) return true;
  Position next = at_remote + 1;
  if (!reads(facts_.event(triple.remote).kind)) {
    EventNumber access = next_access(triple.remote);
    if (access == kNoEvent) return false;
    next = facts_.positions.of(access);
  }
  return facts_.observed->known(unit, branch - 1, remote) >= next;
}

bool Filter::source_changes(EventNumber read, EventNumber first, EventNumber prev, uint32_t remote) const {
  uint32_t variable = facts_.event(read).object;
  EventNumber source = facts_.observed->source(read);
  if (source == kNoEvent || source < first) return writes_within(variable, remote, read, prev);
  if (facts_.thread(source) != remote || source > prev) return false;
  if (writes_within(variable, remote, read, prev)) return true;
  // The source moves before `first`: whoever else wrote between the two then comes after it.
  std::span<const EventNumber> all = facts_.accesses.of(variable);
  for (auto at = std::lower_bound(all.begin(), all.end(), first); at != all.end() && *at < source; ++at) {
    if (writes(facts_.event(*at).kind) && facts_.thread(*at) != remote) return true;
  }
  return false;
}

bool Filter::some_source_changes(const Triple& triple, EventNumber prev) const {
  uint32_t unit = facts_.thread(triple.first), remote = facts_.thread(triple.remote);
  Position branch = last_branch(unit, facts_.positions.of(triple.first), facts_.positions.of(triple.second));
  if (branch == 0) return false;
  std::span<const EventNumber> own = within(reads_[unit], triple.first, facts_.positions.event(unit, branch));
  std::span<const EventNumber> theirs = within(writes_[remote], triple.first, prev + 1);
  if (theirs.empty()) return false;
  if (own.size() <= theirs.size()) {
    return std::any_of(own.begin(), own.end(),
                       [&](EventNumber read) { return source_changes(read, triple.first, prev, remote); });
  }
  // Few writes move: only reads of what they write can change.
  std::vector<uint32_t> moved;
  for (EventNumber write : theirs) moved.push_back(facts_.event(write).object);
  std::sort(moved.begin(), moved.end());
  moved.erase(std::unique(moved.begin(), moved.end()), moved.end());
  for (uint32_t variable : moved) {
    std::span<const EventNumber> all = facts_.accesses.of(variable);
    auto at = std::lower_bound(all.begin(), all.end(), own.front());
    for (; at != all.end() && *at <= own.back(); ++at) {
      if (facts_.thread(*at) == unit && reads(facts_.event(*at).kind) &&
          source_changes(*at, triple.first, prev, remote)) {
        return true;
      }
    }
  }
  return false;
}

EventNumber Filter::previous_access(EventNumber access) const {
  std::span<const EventNumber> all = facts_.accesses.of(facts_.event(access).object);
  uint32_t thread = facts_.thread(access);
  for (auto at = std::lower_bound(all.begin(), all.end(), access); at != all.begin();) {
    if (facts_.thread(*--at) == thread) return *at;
  }
  return kNoEvent;
}

EventNumber Filter::next_access(EventNumber access) const {
  std::span<const EventNumber> all = facts_.accesses.of(facts_.event(access).object);
  uint32_t thread = facts_.thread(access);
  for (auto at = std::upper_bound(all.begin(), all.end(), access); at != all.end(); ++at) {
    if (facts_.thread(*at) == thread) return *at;
  }
  return kNoEvent;
}

bool Filter::writes_within(uint32_t variable, uint32_t thread, EventNumber after, EventNumber upto) const {
  std::span<const EventNumber> all = facts_.accesses.of(variable);
  for (auto at = std::upper_bound(all.begin(), all.end(), after); at != all.end() && *at <= upto; ++at) {
    if (facts_.thread(*at) == thread && writes(facts_.event(*at).kind)) return true;
  }
  return false;
}

Position Filter::last_branch(uint32_t thread, Position from, Position to) const {
  for (Position at = to; at > from; --at) {
    const Event& event = facts_.event(facts_.positions.event(thread, at));
    if (event.branches != 0 || event.kind == EventKind::Branch || event.kind == EventKind::Assume) return at;
  }
  return 0;
}

std::span<const EventNumber> Filter::within(const std::vector<EventNumber>& events, EventNumber from,
                                            EventNumber to) const {
  auto begin = std::lower_bound(events.begin(), events.end(), from);
  auto end = std::lower_bound(begin, events.end(), to);
  return {begin, end};
}

}  // namespace cleave::prediction
