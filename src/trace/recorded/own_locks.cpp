#include "trace/recorded/own_locks.h"

namespace cleave {
namespace {

bool acquires(MemoryOrder order) {
  return order == MemoryOrder::Acquire || order == MemoryOrder::Consume || order == MemoryOrder::AcqRel ||
         order == MemoryOrder::SeqCst;
}

bool releases(MemoryOrder order) {
  return order == MemoryOrder::Release || order == MemoryOrder::AcqRel || order == MemoryOrder::SeqCst;
}

}  // namespace

OwnLocks::Seen OwnLocks::see(const Operation& operation) {
  if (operation.kind == EventKind::Read) return read(operation);
  if (operation.kind == EventKind::Write) {
    auto it = locks_.find(operation.address);
    return it == locks_.end() ? Seen{} : write(it->second, operation);
  }
  if (operation.before == operation.after) return {};  // found it taken
  if (operation.after == operation.before + 1)
    drawn_[raw(operation.thread)] = {operation.address, operation.before};
  return update(locks_[operation.address], operation);
}

OwnLocks::Seen OwnLocks::update(Lock& lock, const Operation& operation) {
  if (lock.broken) return {};
  if (lock.ticket) {
    const bool next = operation.before == lock.free && operation.after == lock.free + 1;
    if (lock.holder != operation.thread || !next || !releases(operation.order)) return break_off(lock);
    return give_back(lock, operation.after);
  }
  const bool free = lock.holder == kNone<ThreadId> && (!lock.begun || operation.before == lock.free);
  if (!free || !acquires(operation.order)) return break_off(lock);
  lock.begun = true;
  lock.free = operation.before;
  return take(lock, operation.thread);
}

OwnLocks::Seen OwnLocks::write(Lock& lock, const Operation& operation) {
  if (lock.broken) return {};
  const uint64_t expected = lock.ticket ? lock.free + 1 : lock.free;
  if (lock.holder != operation.thread || operation.after != expected || !releases(operation.order))
    return break_off(lock);
  return give_back(lock, expected);
}

OwnLocks::Seen OwnLocks::read(const Operation& operation) {
  auto drawn = drawn_.find(raw(operation.thread));
  if (drawn == drawn_.end() || drawn->second.address == operation.address ||
      drawn->second.ticket != operation.after || !acquires(operation.order))
    return {};
  Lock& lock = locks_[operation.address];
  if (lock.broken || (lock.begun && !lock.ticket)) return {};
  drawn_.erase(drawn);
  lock.begun = lock.ticket = true;
  if (lock.holder != kNone<ThreadId>) return break_off(lock);
  lock.free = operation.after;
  return take(lock, operation.thread);
}

OwnLocks::Seen OwnLocks::take(Lock& lock, ThreadId thread) {
  lock.holder = thread;
  lock.told = lock.first != kNone<ThreadId> && (lock.several || thread != lock.first);
  return {lock.told ? Step::Acquires : Step::None, thread};
}

OwnLocks::Seen OwnLocks::give_back(Lock& lock, uint64_t free) {
  const ThreadId holder = lock.holder;
  if (lock.first == kNone<ThreadId>) lock.first = holder;
  if (lock.first != holder) lock.several = true;
  lock.holder = kNone<ThreadId>;
  lock.free = free;
  const bool told = lock.told;
  lock.told = false;
  return {told ? Step::Releases : Step::None, holder};
}

OwnLocks::Seen OwnLocks::break_off(Lock& lock) {
  const Seen seen{lock.told ? Step::Ends : Step::None, lock.holder};
  lock = {};
  lock.broken = true;
  return seen;
}

void OwnLocks::forget(uint64_t address, uint64_t bytes) {
  if (locks_.empty()) return;
  if (bytes > locks_.size()) {
    boost::unordered::erase_if(locks_, [&](const auto& lock) { return lock.first - address < bytes; });
  } else {
    for (uint64_t at = address; at < address + bytes; ++at) locks_.erase(at);
  }
}

}  // namespace cleave
