// The rules of synchronization, as plainly as they can be written: which event of which thread may come next.
// Used by the generator (to make consistent traces) and by the enumerator (to try all interleavings). Shares
// no code with the tool, and is meant for traces of a few dozen events.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/core/trace.h"

namespace cleave::oracle {

// What the threads' operations are: recorded events, or the program of a generated thread.
struct Script {
  std::vector<std::vector<Event>> threads;  // by ThreadId
  std::vector<std::vector<EventIndex>>
      positions;  // of the same events in the recorded trace; empty for a program
  std::vector<SyncInfo> syncs;
};

Script script_of(const Trace& trace);

// State of all synchronization objects. Copyable; `append_key` writes everything that decides its future.
//  - locks: exclusive, or shared by many readers; Acquire is always the outermost of a re-entrant lock
//  - conditions: a Wake needs a signal or broadcast since its Wait began, one signal marks one waiter (which
//  one is a
//    choice), and the mutex; no spurious wake-ups
//  - semaphores start with SyncInfo::initial tokens
//  - barriers: SyncInfo::initial parties, or as many as there are threads that use the barrier
//  - a thread starts after its fork (if the script has one) and is joined after its last event
class Machine {
 public:
  explicit Machine(const Script& script);

  // In how many ways the thread's next event can happen now: 0 is blocked, more than 1 only for a Signal.
  size_t ways(size_t thread) const;
  // Lets it happen; `way` < ways(thread).
  void step(size_t thread, size_t way);
  bool finished(size_t thread) const { return next_[thread] == script_->threads[thread].size(); }
  bool all_finished() const;
  size_t next(size_t thread) const { return next_[thread]; }
  const Event& next_event(size_t thread) const { return script_->threads[thread][next_[thread]]; }
  size_t threads() const { return next_.size(); }
  void append_key(std::string& key) const;

 private:
  struct Sync {
    int32_t owner = -1;               // thread that holds it exclusively
    uint32_t readers = 0;             // bit set of threads that hold it shared
    uint32_t waiting = 0, woken = 0;  // condition: bit sets of threads
    uint64_t tokens = 0;              // semaphore
    uint32_t arrivals = 0, parties = 0;
    bool once_begun = false, once_ended = false;
  };
  bool lock_free(const Sync& lock) const { return lock.owner < 0 && lock.readers == 0; }
  std::vector<size_t> sleepers(const Sync& condition) const;

  const Script* script_;
  std::vector<size_t> next_;
  std::vector<bool> started_;
  std::vector<Sync> syncs_;
  std::vector<uint32_t> ticket_;  // of the barrier a thread stands at
};

}  // namespace cleave::oracle
