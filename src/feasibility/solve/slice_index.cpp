#include "feasibility/solve/slice_index.h"

#include <algorithm>
#include <map>

namespace cleave {
namespace {

struct Held {
  uint32_t section;  // index into sections_ of its lock
  SyncId lock;
};

const std::vector<uint32_t> kEmpty;

}  // namespace

SliceIndex::SliceIndex(const SymbolicTrace& symbolic)
    : trace_(symbolic.trace()),
      thread_events_(trace_.threads().size()),
      writers_(trace_.variables().size()),
      posts_(trace_.syncs().size()),
      downs_(trace_.syncs().size()),
      signals_(trace_.syncs().size()),
      sections_(trace_.syncs().size()),
      position_in_thread_(trace_.size()),
      release_needed_(trace_.size()) {
  for (uint32_t i = 0; i < trace_.size(); ++i) {
    const Event& event = trace_.events()[i];
    position_in_thread_[i] = static_cast<uint32_t>(thread_events_[raw(event.thread)].size());
    thread_events_[raw(event.thread)].push_back(i);
    const MovingStore* moving = symbolic.moving(id_of<EventIndex>(i));
    if (moving != nullptr) {
      for (const MovingStore::Place& place : moving->places) writers_[raw(place.variable)].push_back(i);
    } else if (writes(event.kind)) {
      writers_[event.object].push_back(i);
    }
    if (event.kind == EventKind::Post) posts_[event.object].push_back(i);
    if (event.kind == EventKind::Down) downs_[event.object].push_back(i);
    if (event.kind == EventKind::Signal || event.kind == EventKind::Broadcast)
      signals_[event.object].push_back(i);
  }
  index_locks();
  index_order();
  for (auto [before, after] : symbolic.kept_order())
    must_follow_[static_cast<uint32_t>(raw(after))].push_back(static_cast<uint32_t>(raw(before)));
  index_clocks();
}

void SliceIndex::index_locks() {
  std::vector<std::vector<Held>> held(trace_.threads().size());
  auto open = [&](uint32_t at, ThreadId thread, SyncId lock, bool shared) {
    held[raw(thread)].push_back({static_cast<uint32_t>(sections_[raw(lock)].size()), lock});
    sections_[raw(lock)].push_back({at, kNowhere, thread, shared});
  };
  auto close = [&](uint32_t at, ThreadId thread, SyncId lock) {
    auto& mine = held[raw(thread)];
    for (auto it = mine.rbegin(); it != mine.rend(); ++it) {
      if (it->lock != lock) continue;
      sections_[raw(lock)][it->section].end = at;
      mine.erase(std::next(it).base());
      return;
    }
  };
  for (uint32_t i = 0; i < trace_.size(); ++i) {
    const Event& e = trace_.events()[i];
    switch (e.kind) {
      case EventKind::Acquire:
        open(i, e.thread, e.sync(), false);
        break;
      case EventKind::AcquireShared:
        open(i, e.thread, e.sync(), true);
        break;
      case EventKind::Release:
      case EventKind::ReleaseShared:
        close(i, e.thread, e.sync());
        break;
      case EventKind::Wait:
        if (e.object2 != UINT32_MAX) close(i, e.thread, e.mutex());
        break;
      case EventKind::Wake:
        if (e.object2 != UINT32_MAX) open(i, e.thread, e.mutex(), false);
        break;
      default:
        break;
    }
  }
  for (uint32_t i = 0; i < trace_.size(); ++i) release_needed_[i] = i;
  for (const auto& sections : sections_) note_releases(sections);
}

void SliceIndex::note_releases(std::span<const Section> sections) {
  for (const Section& s : sections) {
    if (s.end == kNowhere) continue;
    const auto& mine = thread_events_[raw(s.thread)];
    for (uint32_t p = position_in_thread_[s.begin]; p < position_in_thread_[s.end]; ++p) {
      release_needed_[mine[p]] = std::max(release_needed_[mine[p]], s.end);
    }
  }
}

void SliceIndex::index_order() {
  std::map<uint32_t, uint32_t> sleeping;                          // thread → its Wait
  std::map<uint32_t, std::vector<uint32_t>> arrived, generation;  // barrier → arrivals still together
  std::map<uint32_t, uint32_t> once_end;
  std::vector<uint32_t> fork_of(trace_.threads().size(), kNowhere);
  for (uint32_t i = 0; i < trace_.size(); ++i) {
    const Event& e = trace_.events()[i];
    if (position_in_thread_[i] == 0 && fork_of[raw(e.thread)] != kNowhere) {
      must_follow_[i].push_back(fork_of[raw(e.thread)]);
    }
    switch (e.kind) {
      case EventKind::Fork:
        fork_of[e.object] = i;
        break;
      case EventKind::Join:
        if (!thread_events_[e.object].empty()) must_follow_[i].push_back(thread_events_[e.object].back());
        break;
      case EventKind::Wait:
        sleeping[raw(e.thread)] = i;
        break;
      case EventKind::Wake:
        if (auto it = sleeping.find(raw(e.thread)); it != sleeping.end()) {
          wait_of_[i] = it->second;
          for (uint32_t s : signals_[e.object]) {
            if (s > it->second && s < i) {  // it was woken: any signal of the condition may do it
              wakers_[i] = signals_[e.object];
              break;
            }
          }
          sleeping.erase(it);
        } else {
          wait_of_[i] = kNowhere;
        }
        break;
      case EventKind::Arrive:
        arrived[e.object].push_back(i);
        break;
      case EventKind::Pass:
        if (!arrived[e.object].empty()) {  // the first to pass closes the generation
          generation[e.object] = std::move(arrived[e.object]);
          arrived[e.object].clear();
        }
        for (uint32_t a : generation[e.object]) must_follow_[i].push_back(a);
        break;
      case EventKind::OnceAbort:
      case EventKind::OnceEnd:
        once_end[e.object] = i;
        break;
      case EventKind::OnceBegin:  // after the attempt before it was left
      case EventKind::OnceSeen:
        if (auto it = once_end.find(e.object); it != once_end.end()) must_follow_[i].push_back(it->second);
        break;
      default:
        break;
    }
  }
}

std::vector<std::pair<uint32_t, Section>> SliceIndex::held_at(uint32_t event) const {
  std::vector<std::pair<uint32_t, Section>> held;
  for (uint32_t lock = 0; lock < sections_.size(); ++lock) {
    const std::vector<Section>& sections = sections_[lock];
    auto it = std::lower_bound(sections.begin(), sections.end(), event,
                               [](const Section& s, uint32_t at) { return s.begin < at; });
    while (it != sections.begin()) {  // readers overlap; before a writer that has gone nothing is open
      --it;
      const bool open = it->end == kNowhere || it->end >= event;
      if (open) held.emplace_back(lock, *it);
      if (!it->shared && !open) break;
    }
  }
  return held;
}

uint32_t SliceIndex::awake_before(uint32_t event) const {
  for (bool again = true; again;) {
    again = false;
    for (const std::vector<uint32_t>& mine : thread_events_) {
      auto it = std::lower_bound(mine.begin(), mine.end(), event);
      if (it == mine.begin() || trace_.events()[*std::prev(it)].kind != EventKind::Wait) continue;
      event = *std::prev(it);
      again = true;
    }
  }
  return event;
}

uint64_t SliceIndex::value_before(VariableId variable, uint32_t event) const {
  const std::vector<uint32_t>& writers = writers_[raw(variable)];
  for (auto it = std::lower_bound(writers.begin(), writers.end(), event); it != writers.begin();) {
    const Event& write = trace_.events()[*--it];
    if (write.object == raw(variable))
      return write.value;  // a store that moves went there, or somewhere else
  }
  const VariableInfo& info = trace_.variable(variable);
  return info.address != 0 && info.size < 8 ? truncate(info.initial, static_cast<uint8_t>(info.size * 8))
                                            : info.initial;
}

uint32_t SliceIndex::lock_from(uint32_t event) const {
  const Event& e = trace_.events()[event];
  switch (e.kind) {
    case EventKind::Acquire:
    case EventKind::AcquireShared:
      return e.object;
    case EventKind::Wake:
      return e.object2;
    default:
      return UINT32_MAX;
  }
}

const Section* SliceIndex::section_from(uint32_t event) const {
  uint32_t lock = lock_from(event);
  if (lock == UINT32_MAX) return nullptr;
  const std::vector<Section>& sections = sections_[lock];
  auto it = std::lower_bound(sections.begin(), sections.end(), event,
                             [](const Section& s, uint32_t at) { return s.begin < at; });
  return it != sections.end() && it->begin == event ? &*it : nullptr;
}

// Clocks change only where an event waits for another thread's: one is kept for each of those.
void SliceIndex::index_clocks() {
  clocks_.resize(trace_.threads().size());
  for (const auto& [event, others] : must_follow_) {  // in trace order, which is one of the interleavings
    uint32_t thread = raw(trace_.events()[event].thread);
    std::vector<uint32_t> clock(trace_.threads().size(), 0);
    if (const std::vector<uint32_t>* before = clock_at(event)) clock = *before;
    for (uint32_t other : others) {
      if (const std::vector<uint32_t>* theirs = clock_at(other)) {
        for (size_t t = 0; t < clock.size(); ++t) clock[t] = std::max(clock[t], (*theirs)[t]);
      }
      uint32_t& own = clock[raw(trace_.events()[other].thread)];
      own = std::max(own, position_in_thread_[other] + 1);
    }
    clocks_[thread].push_back({position_in_thread_[event], std::move(clock)});
  }
}

const std::vector<uint32_t>* SliceIndex::clock_at(uint32_t event) const {
  const auto& clocks = clocks_[raw(trace_.events()[event].thread)];
  auto it = std::upper_bound(clocks.begin(), clocks.end(), position_in_thread_[event],
                             [](uint32_t position, const Clock& clock) { return position < clock.position; });
  return it == clocks.begin() ? nullptr : &std::prev(it)->behind;
}

bool SliceIndex::must_before(uint32_t a, uint32_t b) const {
  ThreadId thread = trace_.events()[a].thread;
  if (thread == trace_.events()[b].thread) return position_in_thread_[a] < position_in_thread_[b];
  const std::vector<uint32_t>* clock = clock_at(b);
  return clock != nullptr && (*clock)[raw(thread)] > position_in_thread_[a];
}

std::span<const uint32_t> SliceIndex::must_follow(uint32_t event) const {
  auto it = must_follow_.find(event);
  return it == must_follow_.end() ? kEmpty : it->second;
}

std::span<const uint32_t> SliceIndex::wakers(uint32_t wake) const {
  auto it = wakers_.find(wake);
  return it == wakers_.end() ? kEmpty : it->second;
}

}  // namespace cleave
