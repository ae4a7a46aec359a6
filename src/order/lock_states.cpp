#include "order/lock_states.h"

#include <algorithm>

#include "order/lock_operations.h"

namespace cleave::order {
namespace {

uint64_t pair_key(uint32_t a, uint32_t b) { return static_cast<uint64_t>(a) << 32 | b; }

bool conflict(const LockUse& a, const LockUse& b) { return a.lock == b.lock && !(a.shared && b.shared); }

// Whether `history` has an acquisition that cannot happen while `held` is held.
bool meets(const std::vector<LockUse>& history, const LockUse& held) {
  for (const LockUse& use : history) {
    if (conflict(use, held)) return true;
  }
  return false;
}

void insert(std::vector<LockUse>& history, LockUse use) {
  auto place = std::lower_bound(history.begin(), history.end(), use);
  if (place != history.end() && *place == use) return;
  if (history.size() < LockStates::kHistory) history.insert(place, use);
}

std::string bytes_of(const std::vector<HeldLock>& state) {
  std::string key;
  auto put = [&key](uint32_t word) { key.append(reinterpret_cast<const char*>(&word), sizeof word); };
  for (const HeldLock& held : state) {
    put(held.use.lock), put(held.use.shared), put(held.depth), put(static_cast<uint32_t>(held.since.size()));
    for (const LockUse& use : held.since) put(use.lock), put(use.shared);
  }
  return key;
}

}  // namespace

// Walks the lock operations of a trace into LockStates.
class LockStateBuilder {
 public:
  LockStateBuilder(const Trace& trace, const ThreadPositions& positions, LockStates& into)
      : trace_(trace),
        positions_(positions),
        into_(into),
        operations_(trace),
        state_(trace.threads().size(), kNothingHeld) {}

  void run() {
    into_.irregular_ = operations_.irregular();
    for (size_t e = 0; e < trace_.size(); ++e) {
      const Event& event = trace_.events()[e];
      uint32_t t = raw(event.thread);
      LockOperation operation = operations_.of(event);
      if (operation.kind != LockOperation::None && !into_.irregular_[operation.lock]) {
        step(static_cast<EventNumber>(e), t, operation);
      }
      into_.change_of_[e] = static_cast<uint32_t>(into_.changes_[t].size());
    }
  }

 private:
  void step(EventNumber e, uint32_t t, const LockOperation& operation) {
    Position at = positions_.of(e);
    LockStateId from = state_[t], to;
    if (operation.kind == LockOperation::Acquire) {
      to = into_.after_acquire(from, {operation.lock, operation.shared});
      open(e, t, at, operation);
    } else {
      to = into_.after_release(from, operation.lock, operation.shared);
      close(t, at, operation);
    }
    if (to == from) return;
    state_[t] = to;
    auto& changes = into_.changes_[t];
    auto& last_free = into_.last_free_[t];
    changes.push_back({at, to});
    uint32_t before = last_free.empty() ? 0 : last_free.back();
    last_free.push_back(to == kNothingHeld ? static_cast<uint32_t>(changes.size()) : before);
  }

  void open(EventNumber e, uint32_t t, Position at, const LockOperation& operation) {
    auto& sections = into_.sections_[pair_key(operation.lock, t)];
    if (sections.empty()) into_.users_[operation.lock].push_back(t);
    uint32_t& depth = depth_[pair_key(operation.lock, t)];
    if (depth++ == 0) sections.push_back({at, kNever, e, operation.shared});
  }

  void close(uint32_t t, Position at, const LockOperation& operation) {
    uint32_t& depth = depth_[pair_key(operation.lock, t)];
    if (depth == 0 || --depth != 0) return;
    into_.sections_[pair_key(operation.lock, t)].back().released = at;
  }

  const Trace& trace_;
  const ThreadPositions& positions_;
  LockStates& into_;
  LockOperations operations_;
  std::vector<LockStateId> state_;
  boost::unordered_flat_map<uint64_t, uint32_t> depth_;
};

LockStates::LockStates(const Trace& trace, const ThreadPositions& positions)
    : trace_(&trace),
      positions_(&positions),
      change_of_(trace.size()),
      changes_(trace.threads().size()),
      last_free_(trace.threads().size()) {
  intern({});
  LockStateBuilder(trace, positions, *this).run();
}

LockStateId LockStates::intern(State state) {
  auto [found, fresh] = interned_.try_emplace(bytes_of(state), static_cast<uint32_t>(states_.size()));
  if (fresh) states_.push_back(std::move(state));
  return LockStateId{found->second};
}

LockStateId LockStates::after_acquire(LockStateId from, LockUse use) {
  uint64_t key = pair_key(raw(from), use.lock << 1 | (use.shared ? 1 : 0));
  if (auto found = acquired_.find(key); found != acquired_.end()) return found->second;
  State state = states_[raw(from)];
  auto place =
      std::find_if(state.begin(), state.end(), [&](const HeldLock& h) { return h.use.lock == use.lock; });
  if (place != state.end()) {
    ++place->depth;
    if (!use.shared) place->use.shared = false;
  } else {
    for (HeldLock& held : state) insert(held.since, use);
    auto where = std::lower_bound(state.begin(), state.end(), use,
                                  [](const HeldLock& h, const LockUse& u) { return h.use < u; });
    state.insert(where, HeldLock{use, 1, {}});
  }
  LockStateId to = intern(std::move(state));
  acquired_.emplace(key, to);
  return to;
}

LockStateId LockStates::after_release(LockStateId from, uint32_t lock, bool shared) {
  uint64_t key = pair_key(raw(from), lock << 1 | (shared ? 1 : 0));
  if (auto found = released_.find(key); found != released_.end()) return found->second;
  State state = states_[raw(from)];
  auto place =
      std::find_if(state.begin(), state.end(), [&](const HeldLock& h) { return h.use.lock == lock; });
  if (place != state.end() && --place->depth == 0) state.erase(place);
  LockStateId to = intern(std::move(state));
  released_.emplace(key, to);
  return to;
}

size_t LockStates::change_index(uint32_t thread, Position position) const {
  return position == 0 ? 0 : change_of_[positions_->event(thread, position)];
}

LockStateId LockStates::at(uint32_t thread, Position position) const {
  size_t index = change_index(thread, position);
  return index == 0 ? kNothingHeld : changes_[thread][index - 1].state;
}

LockStateId LockStates::at(EventNumber event) const {
  size_t index = change_of_[event];
  return index == 0 ? kNothingHeld : changes_[raw(trace_->events()[event].thread)][index - 1].state;
}

bool LockStates::compatible(LockStateId a, LockStateId b) const {
  if (a == kNothingHeld || b == kNothingHeld) return true;
  uint64_t key = raw(a) < raw(b) ? pair_key(raw(a), raw(b)) : pair_key(raw(b), raw(a));
  if (auto found = compatible_.find(key); found != compatible_.end()) return found->second;
  bool result = true;
  for (const HeldLock& mine : held(a)) {
    for (const HeldLock& other : held(b)) {
      if (conflict(mine.use, other.use) || (meets(mine.since, other.use) && meets(other.since, mine.use)))
        result = false;
    }
  }
  compatible_.emplace(key, result);
  return result;
}

PauseSetId LockStates::pauses(uint32_t thread, Position from, Position to) {
  size_t first = change_index(thread, from), last = change_index(thread, to - 1);
  const auto& changes = changes_[thread];
  auto state = [&](size_t index) { return index == 0 ? kNothingHeld : changes[index - 1].state; };
  auto single = [](LockStateId id) { return PauseSetId{raw(id)}; };
  if (first == last) return single(state(first));
  if (first == 0 || last_free_[thread][last - 1] >= first) return single(kNothingHeld);
  if (last - first < kPauses) {
    std::vector<LockStateId> result;
    for (size_t index = first; index <= last; ++index) result.push_back(state(index));
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result.size() == 1 ? single(result[0]) : intern_set(std::move(result));
  }
  // Histories only grow while a lock is held, so the one at `from` is a part of every later one.
  State throughout;
  for (const HeldLock& held : states_[raw(state(first))]) {
    const CriticalSection* section = section_at(held.use.lock, thread, from);
    if (section && section->released >= to) throughout.push_back(held);
  }
  return single(intern(std::move(throughout)));
}

PauseSetId LockStates::intern_set(std::vector<LockStateId> set) {
  std::string key(reinterpret_cast<const char*>(set.data()), set.size() * sizeof set[0]);
  auto [found, fresh] = interned_sets_.try_emplace(std::move(key), static_cast<uint32_t>(sets_.size()));
  if (fresh) sets_.push_back(std::move(set));
  return PauseSetId{found->second | kSetBit};
}

bool LockStates::compatible(PauseSetId pauses, LockStateId state) const {
  if ((raw(pauses) & kSetBit) == 0) return compatible(LockStateId{raw(pauses)}, state);
  for (LockStateId pause : sets_[raw(pauses) & ~kSetBit]) {
    if (compatible(pause, state)) return true;
  }
  return false;
}

std::vector<Position> LockStates::changes(uint32_t thread, Position from, Position to) const {
  std::vector<Position> result{from};
  for (size_t index = change_index(thread, from); index < changes_[thread].size(); ++index) {
    if (changes_[thread][index].at >= to) break;
    result.push_back(changes_[thread][index].at);
  }
  return result;
}

std::span<const CriticalSection> LockStates::sections(uint32_t lock, uint32_t thread) const {
  auto found = sections_.find(pair_key(lock, thread));
  if (found == sections_.end()) return {};
  return found->second;
}

const CriticalSection* LockStates::section_at(uint32_t lock, uint32_t thread, Position position) const {
  std::span<const CriticalSection> own = sections(lock, thread);
  auto after = std::upper_bound(own.begin(), own.end(), position,
                                [](Position p, const CriticalSection& s) { return p < s.acquired; });
  if (after == own.begin()) return nullptr;
  const CriticalSection& section = *std::prev(after);
  return section.released > position ? &section : nullptr;
}

const std::vector<uint32_t>& LockStates::users(uint32_t lock) const {
  static const std::vector<uint32_t> kNobody;
  auto found = users_.find(lock);
  return found == users_.end() ? kNobody : found->second;
}

}  // namespace cleave::order
