#include "analysis/predict/closure.h"

#include <algorithm>

namespace cleave::prediction {

void Closure::add(uint32_t thread, Position position) {
  if (prefix_[thread] >= position) return;
  prefix_[thread] = position;
  const order::ClockHistory& history = facts_.observed->history();
  for (uint32_t other : history.components(thread)) {
    prefix_[other] = std::max(prefix_[other], history.known(thread, position, other));
  }
}

bool Closure::within_limits() const {
  return std::all_of(fixed_.begin(), fixed_.end(), [this](auto& f) { return prefix_[f.first] <= f.second; });
}

bool Closure::is_fixed(uint32_t thread) const {
  return std::any_of(fixed_.begin(), fixed_.end(), [thread](auto& f) { return f.first == thread; });
}

bool Closure::must_end(const order::CriticalSection& section, uint32_t thread, uint32_t lock) const {
  if (!is_fixed(thread)) {
    for (const order::LockUse& wanted : wanted_) {
      if (wanted.lock == lock && !(wanted.shared && section.shared)) return true;
    }
  }
  for (uint32_t other : facts_.locks->users(lock)) {
    if (other == thread || prefix_[other] == 0) continue;
    std::span<const order::CriticalSection> theirs = facts_.locks->sections(lock, other);
    auto after = std::upper_bound(theirs.begin(), theirs.end(), prefix_[other],
                                  [](Position p, const order::CriticalSection& s) { return p < s.acquired; });
    // From their last section back to the first that is later in the trace than ours: one that conflicts is
    // enough.
    while (after != theirs.begin() && (--after)->acquire_event > section.acquire_event) {
      if (!(section.shared && after->shared)) return true;
    }
  }
  return false;
}

int Closure::settle(uint32_t thread) {
  order::LockStateId state = facts_.locks->at(thread, prefix_[thread]);
  if (state == order::kNothingHeld) return 0;
  for (const order::HeldLock& held : facts_.locks->held(state)) {
    const order::CriticalSection* section = facts_.locks->section_at(held.use.lock, thread, prefix_[thread]);
    if (!section || !must_end(*section, thread, held.use.lock)) continue;
    if (section->released == kNever) return -1;
    add(thread, section->released);
    return within_limits() ? 1 : -1;
  }
  return 0;
}

bool Closure::close() {
  if (!within_limits()) return false;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t thread = 0; thread < prefix_.size(); ++thread) {
      if (prefix_[thread] == 0) continue;
      int outcome = settle(thread);
      if (outcome < 0) return false;
      if (outcome > 0) changed = true;
    }
  }
  return true;
}

}  // namespace cleave::prediction
