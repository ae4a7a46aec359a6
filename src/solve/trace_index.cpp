#include "solve/trace_index.h"

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

TraceIndex::TraceIndex(const Trace& trace)
    : trace_(trace),
      thread_events_(trace.threads().size()),
      writers_(trace.variables().size()),
      posts_(trace.syncs().size()),
      signals_(trace.syncs().size()),
      sections_(trace.syncs().size()),
      position_in_thread_(trace.size()),
      release_needed_(trace.size()) {
  for (uint32_t i = 0; i < trace.size(); ++i) {
    const Event& event = trace.events()[i];
    position_in_thread_[i] = static_cast<uint32_t>(thread_events_[raw(event.thread)].size());
    thread_events_[raw(event.thread)].push_back(i);
    if (writes(event.kind)) writers_[event.object].push_back(i);
    if (event.kind == EventKind::Post) posts_[event.object].push_back(i);
    if (event.kind == EventKind::Signal || event.kind == EventKind::Broadcast) signals_[event.object].push_back(i);
  }
  index_locks();
  index_order();
}

void TraceIndex::index_locks() {
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
      case EventKind::Acquire: open(i, e.thread, e.sync(), false); break;
      case EventKind::AcquireShared: open(i, e.thread, e.sync(), true); break;
      case EventKind::Release:
      case EventKind::ReleaseShared: close(i, e.thread, e.sync()); break;
      case EventKind::Wait:
        if (e.object2 != UINT32_MAX) close(i, e.thread, e.mutex());
        break;
      case EventKind::Wake:
        if (e.object2 != UINT32_MAX) open(i, e.thread, e.mutex(), false);
        break;
      default: break;
    }
  }
  for (uint32_t i = 0; i < trace_.size(); ++i) release_needed_[i] = i;
  for (const auto& sections : sections_) note_releases(sections);
}

void TraceIndex::note_releases(std::span<const Section> sections) {
  for (const Section& s : sections) {
    if (s.end == kNowhere) continue;
    const auto& mine = thread_events_[raw(s.thread)];
    for (uint32_t p = position_in_thread_[s.begin]; p < position_in_thread_[s.end]; ++p) {
      release_needed_[mine[p]] = std::max(release_needed_[mine[p]], s.end);
    }
  }
}

void TraceIndex::index_order() {
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
      case EventKind::Fork: fork_of[e.object] = i; break;
      case EventKind::Join:
        if (!thread_events_[e.object].empty()) must_follow_[i].push_back(thread_events_[e.object].back());
        break;
      case EventKind::Wait: sleeping[raw(e.thread)] = i; break;
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
      case EventKind::Arrive: arrived[e.object].push_back(i); break;
      case EventKind::Pass:
        if (!arrived[e.object].empty()) {  // the first to pass closes the generation
          generation[e.object] = std::move(arrived[e.object]);
          arrived[e.object].clear();
        }
        for (uint32_t a : generation[e.object]) must_follow_[i].push_back(a);
        break;
      case EventKind::OnceEnd: once_end[e.object] = i; break;
      case EventKind::OnceSeen:
        if (auto it = once_end.find(e.object); it != once_end.end()) must_follow_[i].push_back(it->second);
        break;
      default: break;
    }
  }
}

std::span<const uint32_t> TraceIndex::must_follow(uint32_t event) const {
  auto it = must_follow_.find(event);
  return it == must_follow_.end() ? kEmpty : it->second;
}

std::span<const uint32_t> TraceIndex::wakers(uint32_t wake) const {
  auto it = wakers_.find(wake);
  return it == wakers_.end() ? kEmpty : it->second;
}

}  // namespace cleave
