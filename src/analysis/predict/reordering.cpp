#include "analysis/predict/reordering.h"

#include <algorithm>

#include "analysis/predict/closure.h"
#include "analysis/predict/steps.h"

namespace cleave::prediction {
namespace {

order::LockUse acquired_by(const Event& event, bool* acquires) {
  *acquires = event.kind == EventKind::Acquire || event.kind == EventKind::AcquireShared;
  return {event.object, event.kind == EventKind::AcquireShared};
}

}  // namespace

std::vector<EventNumber> Reordering::events(const TraceIndex& facts) const {
  EventNumber end = 0;
  for (uint32_t t = 0; t < prefix.size(); ++t) {
    if (prefix[t] != 0) end = std::max(end, facts.positions.event(t, prefix[t]) + 1);
  }
  std::vector<EventNumber> result;
  for (EventNumber e = 0; e < end; ++e) {
    if (facts.positions.of(e) <= prefix[facts.thread(e)]) result.push_back(e);
  }
  result.insert(result.end(), tail.begin(), tail.end());
  return result;
}

// Right before the second access, right after the first, and where the locks held change in between: the
// latest first, since that leaves least to do after the pause.
std::vector<Position> Reorderer::cuts(const Triple& triple) const {
  uint32_t unit = facts_.thread(triple.first);
  Position from = facts_.positions.of(triple.first), to = facts_.positions.of(triple.second);
  order::LockStateId remote = facts_.locks->at(triple.remote);
  std::vector<Position> fit;
  for (Position at : facts_.locks->changes(unit, from, to)) {
    if (facts_.locks->compatible(facts_.locks->at(unit, at), remote)) fit.push_back(at);
    if (fit.size() > 64) break;
  }
  std::vector<Position> result;
  if (facts_.locks->compatible(facts_.locks->at(unit, to - 1), remote)) result.push_back(to - 1);
  while (!fit.empty() && result.size() + 1 < kCuts) {
    result.push_back(fit.back());
    fit.pop_back();
  }
  if (!fit.empty()) result.push_back(fit.front());
  return result;
}

std::optional<Reordering> Reorderer::find(const Triple& triple) const {
  if (triple.first < triple.remote && triple.remote < triple.second) {
    Reordering observed;
    observed.prefix.resize(facts_.trace.threads().size());
    for (uint32_t t = 0; t < observed.prefix.size(); ++t) {
      observed.prefix[t] = facts_.positions.last_not_after(t, triple.second);
    }
    observed.prefix[facts_.thread(triple.second)] -= 1;
    observed.tail = {triple.second};
    observed.keeps_writes = true;
    observed.triple = triple;
    observed.values = {facts_.event(triple.first).value, facts_.event(triple.remote).value,
                       facts_.event(triple.second).value};
    return observed;
  }
  uint32_t remote = facts_.thread(triple.remote);
  Position before = facts_.positions.of(triple.remote) - 1, outside = before;
  for (const order::HeldLock& held : facts_.locks->held(facts_.locks->at(triple.remote))) {
    const order::CriticalSection* section = facts_.locks->section_at(held.use.lock, remote, before + 1);
    if (section) outside = std::min(outside, section->acquired - 1);
  }
  std::optional<Reordering> best;
  for (Position cut : cuts(triple)) {
    for (Position hold : {before, outside}) {
      std::optional<Reordering> found = attempt(triple, cut, hold);
      if (found && found->keeps_writes) return found;
      if (found && !best) best = std::move(found);
      if (before == outside) break;
    }
  }
  return best;
}

void Reorderer::retreat(uint32_t unit, Position* cut, uint32_t remote, Position* hold) const {
  const order::ClockHistory& history = facts_.observed->history();
  for (bool changed = true; changed;) {
    changed = false;
    if (Position needs = history.first_knowing(unit, remote, *hold + 1); needs <= *cut)
      *cut = needs - 1, changed = true;
    if (Position needs = history.first_knowing(remote, unit, *cut + 1); needs <= *hold)
      *hold = needs - 1, changed = true;
  }
}

// The steps of one attempt: runs both threads, and remembers whether all reads kept their sources.
class Reorderer::Attempt {
 public:
  Attempt(const TraceIndex& facts, const Triple& triple, std::vector<Position> prefix)
      : facts_(facts),
        triple_(triple),
        steps_(facts, std::move(prefix)),
        unit_(facts.thread(triple.first)),
        remote_(facts.thread(triple.remote)) {
    values_[0] = facts.event(triple.first).value;  // unless it is one of the steps
  }

  // Lets the unit go on to the cut, the remote thread through its access, the unit to its second access.
  bool run(Position cut) {
    Position at_remote = facts_.positions.of(triple_.remote), second = facts_.positions.of(triple_.second);
    if (!advance(unit_, cut, false) || !advance(remote_, at_remote - 1, false)) return false;
    return last(triple_.remote) && advance(unit_, second - 1, true) && last(triple_.second) &&
           still_a_pattern();
  }
  bool keeps_writes() const { return keeps_; }
  const std::vector<EventNumber>& events() const { return steps_.events(); }
  const std::array<std::optional<uint64_t>, 3>& values() const { return values_; }

 private:
  bool take(Steps::Outcome outcome) {
    if (outcome == Steps::Outcome::Blocked || outcome == Steps::Outcome::Impossible) return false;
    EventNumber e = steps_.events().back();
    if (!steps_.kept_source()) keeps_ = false;
    if (e == triple_.first) values_[0] = steps_.value();
    if (outcome == Steps::Outcome::ChangedValue) {
      if (facts_.event(e).object != facts_.event(triple_.first).object) return false;
      if (e == triple_.first) changed_[0] = true;
    }
    return steps_.events().size() < kTail;
  }

  bool advance(uint32_t thread, Position to, bool remote_gives_way) {
    while (steps_.now(thread) < to) {
      Steps::Outcome outcome = steps_.step(thread);
      if (outcome == Steps::Outcome::Blocked && remote_gives_way && steps_.blocker() == remote_) {
        if (!take(steps_.step(remote_))) return false;
      } else if (!take(outcome)) {
        return false;
      }
    }
    return true;
  }

  // The remote or the second access. Reads of initial values are free in the paper's model.
  bool last(EventNumber access) {
    Steps::Outcome outcome = steps_.step(facts_.thread(access));
    if (outcome == Steps::Outcome::Blocked || outcome == Steps::Outcome::Impossible) return false;
    if (!steps_.kept_source() && facts_.observed->source(access) != kNoEvent) keeps_ = false;
    if (outcome == Steps::Outcome::ChangedValue) changed_[access == triple_.remote ? 1 : 2] = true;
    values_[access == triple_.remote ? 1 : 2] = steps_.value();
    return true;
  }

  // An update that reads another value may be a compare-and-swap that fails: only its read is certain.
  bool still_a_pattern() const {
    auto kind = [this](EventNumber e, bool changed) {
      EventKind recorded = facts_.event(e).kind;
      return changed && recorded == EventKind::Update ? EventKind::Read : recorded;
    };
    return pattern_of(kind(triple_.first, changed_[0]), kind(triple_.remote, changed_[1]),
                      kind(triple_.second, changed_[2])) != Pattern::None;
  }

  const TraceIndex& facts_;
  const Triple& triple_;
  Steps steps_;
  uint32_t unit_, remote_;
  bool keeps_ = true;
  bool changed_[3] = {};
  std::array<std::optional<uint64_t>, 3> values_;
};

std::optional<Reordering> Reorderer::attempt(const Triple& triple, Position cut, Position hold) const {
  uint32_t unit = facts_.thread(triple.first), remote = facts_.thread(triple.remote);
  Position second = facts_.positions.of(triple.second), at_remote = facts_.positions.of(triple.remote);
  Position unit_prefix = cut, remote_prefix = hold;
  retreat(unit, &unit_prefix, remote, &remote_prefix);
  if (second - unit_prefix + at_remote - remote_prefix > kTail) return std::nullopt;

  Closure closure(facts_);
  closure.fix(unit, unit_prefix);
  closure.fix(remote, remote_prefix);
  closure.add(unit, unit_prefix);
  closure.add(remote, remote_prefix);
  // What the steps to come need of third threads comes first too.
  for (auto [thread, last] : {std::pair(unit, second - 1), std::pair(remote, at_remote - 1)}) {
    for (uint32_t third : facts_.observed->history().components(thread)) {
      if (third != unit && third != remote) closure.add(third, facts_.observed->known(thread, last, third));
    }
  }
  for (auto [thread, from, to] :
       {std::tuple(unit, unit_prefix, second), std::tuple(remote, remote_prefix, at_remote)}) {
    for (Position at = from + 1; at < to; ++at) {
      bool acquires;
      order::LockUse use = acquired_by(facts_.event(facts_.positions.event(thread, at)), &acquires);
      if (acquires) closure.want(use);
    }
  }
  if (!closure.close()) return std::nullopt;
  Attempt attempt(facts_, triple, closure.prefix());
  if (!attempt.run(cut)) return std::nullopt;
  return Reordering{closure.prefix(), attempt.events(), attempt.keeps_writes(), triple, attempt.values()};
}

}  // namespace cleave::prediction
