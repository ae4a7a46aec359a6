#include "order/lock_operations.h"

#include <boost/unordered/unordered_flat_map.hpp>

namespace cleave::order {

LockOperations::LockOperations(const Trace& trace)
    : irregular_(trace.syncs().size(), false), token_lock_(trace.syncs().size(), false) {
  find_token_locks(trace);
  find_irregular(trace);
}

LockOperation LockOperations::of(const Event& event) const {
  switch (event.kind) {
    case EventKind::Acquire:
      return {LockOperation::Acquire, false, event.object};
    case EventKind::Release:
      return {LockOperation::Release, false, event.object};
    case EventKind::AcquireShared:
      return {LockOperation::Acquire, true, event.object};
    case EventKind::ReleaseShared:
      return {LockOperation::Release, true, event.object};
    case EventKind::Wait:
      if (event.object2 >= irregular_.size()) return {};
      return {LockOperation::Release, false, event.object2};
    case EventKind::Wake:
      if (event.object2 >= irregular_.size()) return {};
      return {LockOperation::Acquire, false, event.object2};
    case EventKind::Down:
      if (!token_lock_[event.object]) return {};
      return {LockOperation::Acquire, false, event.object};
    case EventKind::Post:
      if (!token_lock_[event.object]) return {};
      return {LockOperation::Release, false, event.object};
    default:
      return {};
  }
}

void LockOperations::find_token_locks(const Trace& trace) {
  boost::unordered_flat_map<uint64_t, int>
      balance;  // semaphore << 32 | thread → 1 while the thread has the token
  std::vector<bool> seen(token_lock_.size(), false), wrong(token_lock_.size(), false);
  for (const Event& event : trace.events()) {
    if (event.kind != EventKind::Down && event.kind != EventKind::Post) continue;
    seen[event.object] = true;
    int& own = balance[static_cast<uint64_t>(event.object) << 32 | raw(event.thread)];
    own += event.kind == EventKind::Down ? 1 : -1;
    if (own < 0 || own > 1) wrong[event.object] = true;
  }
  for (size_t sync = 0; sync < token_lock_.size(); ++sync) {
    token_lock_[sync] = seen[sync] && !wrong[sync] && trace.syncs()[sync].initial == 1;
  }
}

void LockOperations::find_irregular(const Trace& trace) {
  struct Held {
    uint32_t exclusive = UINT32_MAX;  // thread
    uint32_t depth = 0;
    uint32_t shared = 0;  // how many times, by whomever
  };
  std::vector<Held> locks(irregular_.size());
  boost::unordered_flat_map<uint64_t, uint32_t> readers;
  for (const Event& event : trace.events()) {
    LockOperation operation = of(event);
    if (operation.kind == LockOperation::None) continue;
    Held& held = locks[operation.lock];
    uint32_t thread = raw(event.thread);
    bool mine = held.exclusive == thread;
    if (operation.shared) {
      uint32_t& count = readers[static_cast<uint64_t>(operation.lock) << 32 | thread];
      if (operation.kind == LockOperation::Acquire) {
        if (held.exclusive != UINT32_MAX) irregular_[operation.lock] = true;
        ++count, ++held.shared;
      } else if (count == 0) {
        irregular_[operation.lock] = true;
      } else {
        --count, --held.shared;
      }
    } else if (operation.kind == LockOperation::Acquire) {
      if ((held.exclusive != UINT32_MAX && !mine) || held.shared != 0) irregular_[operation.lock] = true;
      held.exclusive = thread;
      held.depth = mine ? held.depth + 1 : 1;
    } else if (!mine) {
      irregular_[operation.lock] = true;
    } else if (--held.depth == 0) {
      held.exclusive = UINT32_MAX;
    }
  }
}

}  // namespace cleave::order
