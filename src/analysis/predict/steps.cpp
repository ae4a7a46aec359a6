#include "analysis/predict/steps.h"

#include <algorithm>

namespace cleave::prediction {

Steps::Outcome Steps::step(uint32_t thread) {
  Position at = now_[thread] + 1;
  if (at > facts_.positions.length(thread)) return Outcome::Impossible;
  EventNumber e = facts_.positions.event(thread, at);
  const Event& event = facts_.event(e);
  kept_source_ = true;
  bool branch = event.branches != 0 || event.kind == EventKind::Branch || event.kind == EventKind::Assume;
  if (tainted_[thread] && branch) return Outcome::Impossible;
  if (at == 1 && !forked(thread)) return Outcome::Impossible;
  Outcome outcome = is_access(event.kind) ? access(e, event) : synchronize(thread, at, event);
  if (outcome == Outcome::Blocked || outcome == Outcome::Impossible) return outcome;
  now_[thread] = at;
  events_.push_back(e);
  return outcome;
}

// The last write among the prefix, in recorded order, and the steps since.
Steps::Written Steps::last_write(uint32_t variable) const {
  if (auto found = written_.find(variable); found != written_.end()) return found->second;
  std::span<const EventNumber> all = facts_.accesses.of(variable);
  EventNumber end = 0;
  for (uint32_t t = 0; t < prefix_.size(); ++t) {
    if (prefix_[t] != 0) end = std::max(end, facts_.positions.event(t, prefix_[t]));
  }
  for (auto at = std::upper_bound(all.begin(), all.end(), end); at != all.begin();) {
    EventNumber e = *--at;
    if (writes(facts_.event(e).kind) && facts_.positions.of(e) <= prefix_[facts_.thread(e)]) return {e, true};
  }
  return {kNoEvent, true};
}

Steps::Outcome Steps::access(EventNumber e, const Event& event) {
  value_ = event.value;
  if (!facts_.accesses.shared(event.object)) return Outcome::Done;  // nobody else can change what it reads
  Outcome outcome = Outcome::Done;
  uint32_t thread = raw(event.thread);
  if (reads(event.kind)) {
    Written write = last_write(event.object);
    kept_source_ = write.event == facts_.observed->source(e);
    bool same = write.known && kept_source_;
    if (write.known && write.event != kNoEvent && !kept_source_) {
      uint64_t recorded =
          event.kind == EventKind::Update ? facts_.trace.old_value(EventIndex{e}) : event.value;
      same = facts_.event(write.event).value == recorded;
    }
    if (!same) {
      value_ = std::nullopt;
      if (write.known && write.event != kNoEvent) value_ = facts_.event(write.event).value;
      if (write.event == kNoEvent && facts_.trace.variable(event.variable()).initial_known) {
        value_ = facts_.trace.variable(event.variable()).initial;
      }
      outcome = Outcome::ChangedValue;
      tainted_[thread] = true;
    }
  }
  if (writes(event.kind)) {
    written_[event.object] = {e, !tainted_[thread]};
    if (tainted_[thread]) value_ = std::nullopt;
  }
  return outcome;
}

bool Steps::lock_free(uint32_t thread, order::LockUse use) {
  if (facts_.locks->ignored(use.lock)) return false;  // what it does is not known
  for (uint32_t other : facts_.locks->users(use.lock)) {
    if (other == thread) continue;
    const order::CriticalSection* section = facts_.locks->section_at(use.lock, other, now_[other]);
    if (section && !(section->shared && use.shared)) {
      blocker_ = other;
      return false;
    }
  }
  return true;
}

bool Steps::forked(uint32_t thread) const {
  const order::ClockHistory& history = facts_.must->history();
  for (uint32_t other : history.components(thread)) {
    if (history.known(thread, 1, other) > now_[other]) return false;
  }
  return true;
}

bool Steps::partners_done(uint32_t thread, Position at) const {
  const order::ClockHistory& history = facts_.observed->history();
  for (uint32_t other : history.components(thread)) {
    if (history.known(thread, at, other) > now_[other]) return false;
  }
  return true;
}

bool Steps::token_left(SyncId semaphore) const {
  const order::SyncUse* use = facts_.syncs.use(semaphore);
  uint64_t given = use->tokens, taken = 0;
  for (const order::ThreadOperations& own : use->posts) given += count_upto(own, now_[own.thread]);
  for (const order::ThreadOperations& own : use->downs) taken += count_upto(own, now_[own.thread]);
  return given > taken;
}

Steps::Outcome Steps::synchronize(uint32_t thread, Position at, const Event& event) {
  auto when = [](bool possible) { return possible ? Outcome::Done : Outcome::Impossible; };
  auto lock = [&](bool shared) {
    if (facts_.locks->ignored(event.object)) return Outcome::Impossible;
    return lock_free(thread, {event.object, shared}) ? Outcome::Done : Outcome::Blocked;
  };
  switch (event.kind) {
    case EventKind::Acquire:
      return lock(false);
    case EventKind::AcquireShared:
      return lock(true);
    case EventKind::Release:
    case EventKind::ReleaseShared:
      return when(!facts_.locks->ignored(event.object));
    case EventKind::Down:
      return when(token_left(event.sync()));
    case EventKind::Join:
      return when(now_[raw(event.other())] == facts_.positions.length(raw(event.other())));
    case EventKind::OnceSeen:
      return when(partners_done(thread, at));
    // Who is woken by what, and who meets whom at a barrier, is left as recorded.
    case EventKind::Wait:
    case EventKind::Wake:
    case EventKind::Arrive:
    case EventKind::Pass:
    case EventKind::OnceBegin:
      return Outcome::Impossible;
    default:
      return Outcome::Done;
  }
}

}  // namespace cleave::prediction
