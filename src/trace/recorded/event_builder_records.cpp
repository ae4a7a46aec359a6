// The records that the runtime writes itself, as events.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "abi/hooks.h"
#include "trace/recorded/event_builder.h"

namespace cleave {
namespace {

MemoryOrder order_of(uint64_t c11) { return static_cast<MemoryOrder>(std::min<uint64_t>(c11, 5) + 1); }

}  // namespace

void EventBuilder::record(Thread& thread, RecordKind kind, uint16_t outcomes,
                          std::span<const uint64_t> words) {
  thread.branches += branch_count(outcomes);
  using enum RecordKind;
  switch (kind) {
    case mutex_lock:
      return sync(thread, EventKind::Acquire, SyncKind::Mutex, words[0]);
    case mutex_unlock:
      return sync(thread, EventKind::Release, SyncKind::Mutex, words[0]);
    case shared_lock:
      return sync(thread, EventKind::AcquireShared, SyncKind::RwLock, words[0]);
    case shared_unlock:
      return sync(thread, EventKind::ReleaseShared, SyncKind::RwLock, words[0]);
    case exclusive_lock:
      return sync(thread, EventKind::Acquire, SyncKind::RwLock, words[0]);
    case exclusive_unlock:
      return sync(thread, EventKind::Release, SyncKind::RwLock, words[0]);
    case cond_wait:
      return wait(thread, EventKind::Wait, words);
    case cond_wake:
      return wait(thread, EventKind::Wake, words);
    case cond_signal:
      return sync(thread, EventKind::Signal, SyncKind::Condition, words[0]);
    case cond_broadcast:
      return sync(thread, EventKind::Broadcast, SyncKind::Condition, words[0]);
    case sem_init:
      return sync_made(SyncKind::Semaphore, words);
    case sem_post:
      return semaphore(thread, EventKind::Post, words[0]);
    case sem_down:
      return semaphore(thread, EventKind::Down, words[0]);
    case barrier_init:
      return sync_made(SyncKind::Barrier, words);
    case barrier_arrive:
      return sync(thread, EventKind::Arrive, SyncKind::Barrier, words[0]);
    case barrier_pass:
      return sync(thread, EventKind::Pass, SyncKind::Barrier, words[0]);
    case once_begin:
      return sync(thread, EventKind::OnceBegin, SyncKind::Once, words[0]);
    case once_end:
      return sync(thread, EventKind::OnceEnd, SyncKind::Once, words[0]);
    case once_abort:
      return sync(thread, EventKind::OnceAbort, SyncKind::Once, words[0]);
    case once_seen:
      return sync(thread, EventKind::OnceSeen, SyncKind::Once, words[0]);
    case RecordKind::atomic:
      return atomic_access(thread, words);
    case range_read:
      return range(thread, false, words);
    case range_write:
      return range(thread, true, words);
    case RecordKind::local_end:
      return local_gone(thread, words);
    case RecordKind::input:
      return input_value(thread, words);
    case fence: {
      TableSite site = hook_site(words[0]);
      Event event = at_call(thread, EventKind::Fence);
      if (site) event.site = directory_.site(*site.module, site.site);
      event.set_order(order_of(words[1]));
      return emit(thread, event);
    }
    case thread_start:
    case thread_exit:
    case fork:
    case join:
    case handler_begin:
      return life(thread, kind, words);
    case alloc:
    case free:
    case map:
    case unmap:
    case RecordKind::stack:
      return memory(thread, kind, words);
    case owned:
      return directory_.own(words[0], words[1]);
    default:
      return;
  }
}

// An event of the runtime happens in the call that the thread made last.
Event EventBuilder::at_call(Thread& thread, EventKind kind) {
  Event event{.kind = kind, .thread = thread.id};
  const TableSite& call = thread.stack.last_call();
  if (!call) return event;
  event.site = directory_.site(*call.module, call.site);
  event.context =
      thread.stack.context(contexts_, *call.module, call.module->tables.sites[call.site].inlined_at);
  return event;
}

void EventBuilder::sync(Thread& thread, EventKind kind, SyncKind what, uint64_t address) {
  SyncId object = directory_.sync(address, what);
  Place at;
  if (const TableSite& call = thread.stack.last_call()) {
    at.site = directory_.site(*call.module, call.site);
    at.context =
        thread.stack.context(contexts_, *call.module, call.module->tables.sites[call.site].inlined_at);
  }
  emit(thread, kind, at.site, at.context, raw(object), UINT32_MAX, 0, 0);
}

void EventBuilder::sync_made(SyncKind what, std::span<const uint64_t> words) {
  SyncId id = directory_.sync(words[0], what);
  if (tokens_.contains(raw(id))) id = directory_.sync_anew(words[0], what);
  directory_.change(id).initial = words[3];
  tokens_[raw(id)] = {true, words[3]};
}

// One that nobody was seen to make (before a fork, in another process) had the tokens that are taken.
void EventBuilder::semaphore(Thread& thread, EventKind kind, uint64_t address) {
  SyncId id = directory_.sync(address, SyncKind::Semaphore);
  Tokens& tokens = tokens_[raw(id)];
  if (kind == EventKind::Post) {
    ++tokens.left;
  } else if (tokens.left > 0) {
    --tokens.left;
  } else if (!tokens.made) {
    ++directory_.change(id).initial;
  }
  sync(thread, kind, SyncKind::Semaphore, address);
}

void EventBuilder::wait(Thread& thread, EventKind kind, std::span<const uint64_t> words) {
  Event event = at_call(thread, kind);
  event.object = raw(directory_.sync(words[0], SyncKind::Condition));
  event.object2 = raw(directory_.sync(words[1], SyncKind::Mutex));
  if (kind == EventKind::Wake) event.value = words[5];
  emit(thread, event);
}

void EventBuilder::life(Thread& thread, RecordKind kind, std::span<const uint64_t> words) {
  using enum RecordKind;
  if (kind == thread_start) {
    if (words[1] != UINT32_MAX) {
      Thread& parent = this->thread(static_cast<uint32_t>(words[1]));
      ThreadInfo& info = directory_.change(thread.id);
      if (info.parent == kNone<ThreadId> && parent.id != thread.id) info.parent = parent.id;
    }
    return emit(thread, {.kind = EventKind::Start, .thread = thread.id});
  }
  if (kind == thread_exit) {
    finish(thread);
    thread.exited = true;
    return emit(thread, {.kind = EventKind::Exit, .thread = thread.id});
  }
  if (kind == handler_begin) {
    ThreadInfo& info = directory_.change(thread.id);
    ThreadId below = this->thread(static_cast<uint32_t>(words[1])).id;
    directory_.change(thread.id).parent = below;
    info.name = fmt::format("{}!signal{}", info.name, words[0]);
    return;
  }
  Event event = at_call(thread, kind == fork ? EventKind::Fork : EventKind::Join);
  Thread& child = this->thread(static_cast<uint32_t>(words[0]));
  event.object = raw(child.id);
  if (kind == fork) {
    ThreadInfo& info = directory_.change(child.id);
    info.parent = thread.id;
    info.path = fmt::format("{}.{}", builder_.tables().thread(thread.id).path, ++thread.children);
  }
  emit(thread, event);
}

TableSite EventBuilder::hook_site(uint64_t segment_address) const {
  if (segment_address < 4096) return {};
  const SegmentPlan* plan = file_.modules().find(segment_address, chunk_offset_);
  if (plan == nullptr) return {};
  for (const SlotPlan& slot : plan->slots) {
    if (slot.kind == SlotKind::Hook) return {plan->module, slot.site};
  }
  return plan->slots.empty() ? TableSite{} : TableSite{plan->module, plan->slots.back().site};
}

void EventBuilder::atomic_access(Thread& thread, std::span<const uint64_t> words) {
  TableSite site = hook_site(words[0]);
  uint64_t op = words[3] & 0xff;
  auto bytes = static_cast<uint32_t>(std::min<uint64_t>(words[3] >> 16 & 0xffff, 8));
  if (bytes == 0 || words[1] < 4096) return;
  Event event{.kind = op == CLEAVE_ATOMIC_LOAD    ? EventKind::Read
                      : op == CLEAVE_ATOMIC_STORE ? EventKind::Write
                                                  : EventKind::Update,
              .thread = thread.id};
  if (site) {
    event.site = directory_.site(*site.module, site.site);
    event.context =
        thread.stack.context(contexts_, *site.module, site.module->tables.sites[site.site].inlined_at);
  }
  event.set_order(order_of(words[3] >> 8 & 0xff));
  event.value = op == CLEAVE_ATOMIC_LOAD ? words[4] : words[5];
  const Place at{event.site, event.context};
  const OwnLocks::Seen seen =
      own_locks_.see({thread.id, words[1], event.kind, event.order(), words[4], event.value});
  if (seen.step == OwnLocks::Step::Releases) own_lock(thread, EventKind::Release, words[1], at);
  if (seen.step == OwnLocks::Step::Ends) {
    for (Thread& holder : threads_)
      if (holder.id == seen.holder) own_lock(holder, EventKind::Release, words[1], at);
  }
  access(thread, event, words[1], bytes, words[4], site);
  if (seen.step == OwnLocks::Step::Acquires) own_lock(thread, EventKind::Acquire, words[1], at);
}

// A lock that the program made itself: at the place of its atomic operation.
void EventBuilder::own_lock(Thread& thread, EventKind kind, uint64_t address, Place at) {
  emit(thread, kind, at.site, at.context, raw(directory_.sync(address, SyncKind::Mutex)), UINT32_MAX, 0, 0);
}

void EventBuilder::input_value(Thread& thread, std::span<const uint64_t> words) {
  if (words.size() < 3) return;
  auto* text = reinterpret_cast<const char*>(words.data() + 2);
  size_t most = (words.size() - 2) * 8;
  std::string name(text, strnlen(text, most));
  Event event = at_call(thread, EventKind::Input);
  event.object = builder_.input_name(name);
  event.value = words[1];
  emit(thread, event);
}

}  // namespace cleave
