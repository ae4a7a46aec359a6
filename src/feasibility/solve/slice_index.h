// What slices and encodings ask of a trace: events per thread, critical sections, writers per variable, who
// needs whom.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "feasibility/lift/symbolic_trace.h"

namespace cleave {

inline constexpr uint32_t kNowhere = UINT32_MAX;

// A stretch of one thread in which it holds a lock. `end` is kNowhere when it is never released in the trace.
struct Section {
  uint32_t begin, end;  // positions in the trace
  ThreadId thread;
  bool shared;
};

class SliceIndex {
 public:
  explicit SliceIndex(const SymbolicTrace& symbolic);

  const Trace& trace() const { return trace_; }
  std::span<const uint32_t> thread_events(ThreadId thread) const { return thread_events_[raw(thread)]; }
  uint32_t position_in_thread(uint32_t event) const { return position_in_thread_[event]; }
  // Writes and updates that may go to a variable, in trace order: those that went there, and stores that
  // move.
  std::span<const uint32_t> writers(VariableId variable) const { return writers_[raw(variable)]; }
  std::span<const Section> sections(SyncId lock) const { return sections_[raw(lock)]; }
  // The section that an acquire or wake opens, and its lock; null for other events. O(log sections of the
  // lock).
  const Section* section_from(uint32_t event) const;
  uint32_t lock_from(uint32_t event) const;
  // Events that come before `event` in every interleaving, other than its thread's previous one: the fork of
  // its thread, the last event of a joined thread, the arrivals of a barrier's generation, the end of a once
  // routine.
  std::span<const uint32_t> must_follow(uint32_t event) const;
  // Whether a comes before b in every interleaving, by program order and must_follow. O(log events that wait
  // for others).
  bool must_before(uint32_t a, uint32_t b) const;
  // Signals and broadcasts that may wake this Wake; empty when it woke by itself.
  std::span<const uint32_t> wakers(uint32_t wake) const;
  // The Wait before a Wake.
  uint32_t wait_of(uint32_t wake) const { return wait_of_.at(wake); }
  // Posts of a semaphore; initial tokens are in SyncInfo::initial.
  std::span<const uint32_t> posts(SyncId semaphore) const { return posts_[raw(semaphore)]; }
  std::span<const uint32_t> downs(SyncId semaphore) const { return downs_[raw(semaphore)]; }
  // Sections that are open just before this event in the recorded run, with their locks. O(locks log
  // sections, and readers' sections since the last writer's).
  std::vector<std::pair<uint32_t, Section>> held_at(uint32_t event) const;
  // The last place not after this event where no thread sleeps on a condition in the recorded run.
  uint32_t awake_before(uint32_t event) const;
  // What the variable held just before this event in the recorded run; at 0, before the run.
  uint64_t value_before(VariableId variable, uint32_t event) const;
  // Position of the release that ends the section opened at or before `event` and still open after it, the
  // latest one over all locks the thread holds there; `event` itself when it holds none.
  uint32_t last_release_needed(uint32_t event) const { return release_needed_[event]; }

  // Sections of a lock made by hand count as held too: last_release_needed reaches their ends. O(events in
  // them).
  void note_releases(std::span<const Section> sections);

 private:
  void index_locks();
  void index_order();
  void index_clocks();
  const std::vector<uint32_t>* clock_at(uint32_t event) const;
  const Trace& trace_;
  std::vector<std::vector<uint32_t>> thread_events_, writers_, posts_, downs_, signals_;
  std::vector<std::vector<Section>> sections_;
  std::vector<uint32_t> position_in_thread_, release_needed_;
  std::map<uint32_t, std::vector<uint32_t>> must_follow_, wakers_;
  std::map<uint32_t, uint32_t> wait_of_;
  struct Clock {
    uint32_t position;             // of an event with must_follow, in its thread
    std::vector<uint32_t> behind;  // by thread: so many of its events come before
  };
  std::vector<std::vector<Clock>> clocks_;  // by thread
};

}  // namespace cleave
