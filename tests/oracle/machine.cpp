#include "oracle/machine.h"

#include <algorithm>
#include <set>

namespace cleave::oracle {

Script script_of(const Trace& trace) {
  Script script;
  script.threads.resize(trace.threads().size());
  script.positions.resize(trace.threads().size());
  for (size_t i = 0; i < trace.size(); ++i) {
    const Event& event = trace.events()[i];
    script.threads[raw(event.thread)].push_back(event);
    script.positions[raw(event.thread)].push_back(id_of<EventIndex>(i));
  }
  script.syncs.assign(trace.syncs().begin(), trace.syncs().end());
  return script;
}

Machine::Machine(const Script& script)
    : script_(&script),
      next_(script.threads.size(), 0),
      started_(script.threads.size(), true),
      syncs_(script.syncs.size()),
      ticket_(script.threads.size(), 0) {
  std::vector<std::set<size_t>> users(syncs_.size());
  for (size_t thread = 0; thread < script.threads.size(); ++thread) {
    for (const Event& event : script.threads[thread]) {
      if (event.kind == EventKind::Fork) started_[raw(event.other())] = false;
      if (event.kind == EventKind::Arrive) users[raw(event.sync())].insert(thread);
    }
  }
  for (size_t i = 0; i < syncs_.size(); ++i) {
    uint64_t initial = script.syncs[i].initial;
    syncs_[i].tokens = initial;
    syncs_[i].parties = static_cast<uint32_t>(initial != 0 ? initial : users[i].size());
  }
}

std::vector<size_t> Machine::sleepers(const Sync& condition) const {
  std::vector<size_t> threads;
  for (size_t thread = 0; thread < next_.size(); ++thread) {
    if ((condition.waiting & ~condition.woken) >> thread & 1u) threads.push_back(thread);
  }
  return threads;
}

bool Machine::all_finished() const {
  for (size_t thread = 0; thread < threads(); ++thread) {
    if (!finished(thread)) return false;
  }
  return true;
}

size_t Machine::ways(size_t thread) const {
  if (finished(thread) || !started_[thread]) return 0;
  const Event& event = next_event(thread);
  const Sync* sync = event.object < syncs_.size() ? &syncs_[event.object] : nullptr;
  switch (event.kind) {
    case EventKind::Acquire:
      return lock_free(*sync);
    case EventKind::AcquireShared:
      return sync->owner < 0;
    case EventKind::Release:
    case EventKind::Wait:
      return 1;
    case EventKind::Wake:
      return (sync->woken >> thread & 1u) && lock_free(syncs_[event.object2]);
    case EventKind::Signal:
      return std::max<size_t>(1, sleepers(*sync).size());
    case EventKind::Down:
      return sync->tokens > 0;
    case EventKind::Pass:
      return sync->arrivals >= (ticket_[thread] / sync->parties + 1) * sync->parties;
    case EventKind::Join:
      return finished(event.object);
    case EventKind::OnceBegin:
      return !sync->once_begun;
    case EventKind::OnceSeen:
      return sync->once_ended;
    default:
      return 1;
  }
}

void Machine::step(size_t thread, size_t way) {
  const Event& event = next_event(thread);
  Sync* sync = event.object < syncs_.size() ? &syncs_[event.object] : nullptr;
  const uint32_t bit = 1u << thread;
  ++next_[thread];
  switch (event.kind) {
    case EventKind::Acquire:
      sync->owner = static_cast<int32_t>(thread);
      break;
    case EventKind::Release:
      sync->owner = -1;
      break;
    case EventKind::AcquireShared:
      sync->readers |= bit;
      break;
    case EventKind::ReleaseShared:
      sync->readers &= ~bit;
      break;
    case EventKind::Wait:
      sync->waiting |= bit;
      syncs_[event.object2].owner = -1;
      break;
    case EventKind::Wake:
      sync->waiting &= ~bit;
      sync->woken &= ~bit;
      syncs_[event.object2].owner = static_cast<int32_t>(thread);
      break;
    case EventKind::Signal: {
      std::vector<size_t> asleep = sleepers(*sync);
      if (!asleep.empty()) sync->woken |= 1u << asleep[way];
      break;
    }
    case EventKind::Broadcast:
      sync->woken |= sync->waiting;
      break;
    case EventKind::Post:
      ++sync->tokens;
      break;
    case EventKind::Down:
      --sync->tokens;
      break;
    case EventKind::Arrive:
      ticket_[thread] = sync->arrivals++;
      break;
    case EventKind::Fork:
      started_[event.object] = true;
      break;
    case EventKind::OnceBegin:
      sync->once_begun = true;
      break;
    case EventKind::OnceEnd:
      sync->once_ended = true;
      break;
    case EventKind::OnceAbort:
      sync->once_begun = false;
      break;
    default:
      break;
  }
}

void Machine::append_key(std::string& key) const {
  // Locks, tokens and started threads follow from the positions; what was chosen by a Signal and who came
  // first to a barrier does not.
  for (size_t position : next_) key.push_back(static_cast<char>(position));
  for (const Sync& sync : syncs_) {
    if (sync.woken != 0)
      key.append({'w', static_cast<char>(&sync - syncs_.data()), static_cast<char>(sync.woken)});
    if (sync.arrivals != 0) {
      for (uint32_t ticket : ticket_) key.push_back(static_cast<char>(ticket));
    }
  }
  key.push_back('|');
}

}  // namespace cleave::oracle
