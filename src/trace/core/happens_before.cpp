#include "trace/core/happens_before.h"

#include <algorithm>

namespace cleave {

HappensBefore::Clock& HappensBefore::clock(uint32_t thread) {
  if (thread >= threads_.size()) threads_.resize(thread + size_t{1});
  Clock& own = threads_[thread];
  if (own.size() <= thread) own.resize(thread + size_t{1});
  if (own[thread] == 0) own[thread] = 1;
  return own;
}

Epoch HappensBefore::now(ThreadId thread) { return {raw(thread), clock(raw(thread))[raw(thread)]}; }

bool HappensBefore::before(Epoch then, ThreadId thread) {
  const Clock& own = clock(raw(thread));
  return then.thread < own.size() && own[then.thread] >= then.time;
}

void HappensBefore::join(Clock& into, const Clock& from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

// What the thread does from here on does not happen before what acquires this.
void HappensBefore::release(uint32_t thread, Clock& into) {
  Clock& own = clock(thread);
  join(into, own);
  ++own[thread];
}

void HappensBefore::feed(const Event& event) {
  const uint32_t thread = raw(event.thread);
  if (is_access(event.kind)) {
    if (!event.atomic() || event.object == UINT32_MAX) return;
    Clock& location = atomics_[event.object];
    if (reads(event.kind)) join(clock(thread), location);
    if (writes(event.kind)) release(thread, location);
    return;
  }
  if (event.object != UINT32_MAX) synchronize(event);
}

void HappensBefore::synchronize(const Event& event) {
  const uint32_t thread = raw(event.thread);
  switch (event.kind) {
    case EventKind::Fork: {
      clock(std::max(thread, event.object));
      Clock& child = clock(event.object);
      release(thread, child);
      return;
    }
    case EventKind::Join:
      clock(std::max(thread, event.object));
      return join(clock(thread), clock(event.object));
    case EventKind::Acquire:
    case EventKind::AcquireShared:
    case EventKind::Down:
    case EventKind::Pass:
    case EventKind::OnceBegin:
    case EventKind::OnceSeen:
      return join(clock(thread), syncs_[event.object]);
    case EventKind::Release:
    case EventKind::ReleaseShared:
    case EventKind::Signal:
    case EventKind::Broadcast:
    case EventKind::Post:
    case EventKind::Arrive:
    case EventKind::OnceEnd:
    case EventKind::OnceAbort:
      return release(thread, syncs_[event.object]);
    case EventKind::Wait:
      if (event.object2 != UINT32_MAX) release(thread, syncs_[event.object2]);
      return;
    case EventKind::Wake:
      join(clock(thread), syncs_[event.object]);
      if (event.object2 != UINT32_MAX) join(clock(thread), syncs_[event.object2]);
      return;
    default:
      return;
  }
}

}  // namespace cleave
