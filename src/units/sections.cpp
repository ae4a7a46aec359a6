#include "units/sections.h"

#include <algorithm>

#include "trace/core/unit_flags.h"

namespace cleave::units {

bool share(const Protection& a, const Protection& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](EventIndex at) { return std::find(b.begin(), b.end(), at) != b.end(); });
}

void ThreadSections::acquire(SyncId lock, EventIndex at) {
  held_.push_back({lock, at});
  protection_.push_back(at);
}

void ThreadSections::release(SyncId lock) {
  for (size_t i = held_.size(); i > 0; --i) {
    if (held_[i - 1].first != lock) continue;
    held_.erase(held_.begin() + static_cast<ptrdiff_t>(i - 1));
    protection_.erase(protection_.begin() + static_cast<ptrdiff_t>(i - 1));
    return;
  }
}

void ThreadSections::feed(EventIndex index) {
  const Event& event = trace_.event(index);
  switch (event.kind) {
    case EventKind::Acquire:
    case EventKind::AcquireShared:
      return acquire(event.sync(), index);
    case EventKind::Release:
    case EventKind::ReleaseShared:
      return release(event.sync());
    case EventKind::Wait:
      return release(event.mutex());
    case EventKind::Wake:
      return acquire(event.mutex(), index);
    case EventKind::Begin: {
      const UnitNameInfo& info = trace_.unit_name(event.unit());
      const bool is_call = (info.flags & (kUnitRound | kUnitMayWait)) == 0;
      is_call_.push_back(is_call);
      if (!is_call) return;
      calls_.push_back({index, event.unit(), event.self(), event.site, event.context, innermost()});
      open_.push_back(static_cast<uint32_t>(calls_.size() - 1));
      return;
    }
    case EventKind::End:
      if (is_call_.empty()) return;
      if (is_call_.back()) open_.pop_back();
      is_call_.pop_back();
      return;
    default:
      return;
  }
}

const OpenCall* ThreadSections::covering(EventIndex first, uint32_t number) const {
  while (number != UINT32_MAX && calls_[number].begin >= first) number = calls_[number].caller;
  return number == UINT32_MAX ? nullptr : &calls_[number];
}

EventIndex ThreadSections::view() const {
  if (!held_.empty()) return held_.front().second;
  return open_.empty() ? kNone<EventIndex> : calls_[open_.back()].begin;
}

}  // namespace cleave::units
