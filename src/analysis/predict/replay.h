// The check behind every reordering that predict calls feasible: the events, in their new order, run through
// plain memory, locks, semaphores, conditions and barriers from the very beginning.
//
// It asks that every thread does a prefix of its recorded events, that each is possible when its turn comes,
// and that every read returns its recorded value, with two exceptions: a thread's last event may read
// anything, and a read of the triple's own location may change if its thread branches no more afterwards;
// what that thread then writes counts as unknown. What a thread reads where no other thread accesses anything
// is as recorded, even if code that is not instrumented wrote it (a pthread_t, the end of a number): the
// thread does what it did. Of an update that reads another value only the read is certain (a compare-and-swap
// may fail). It shares no code with what builds reorderings. Built in O(events); a check is O(events of the
// order + variables).
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analysis/predict/trace_index.h"

namespace cleave::prediction {

class Replayer {
 public:
  explicit Replayer(const Trace& trace);

  // Empty if the order can be executed and has the triple in it, else what stands in the way.
  std::string problem(std::span<const EventNumber> order, const Triple& triple) const;

 private:
  friend class Replay;
  void look_at(EventNumber e, const Event& event);

  const Trace& trace_;
  std::vector<uint32_t> number_;               // by event: how manieth of its thread, from 0
  std::vector<uint32_t> length_;               // by thread
  std::vector<bool> needs_fork_;               // by thread
  std::vector<bool> written_, initial_known_;  // by variable; `written_` is used while building
  std::vector<uint64_t> initial_;              // by variable
  std::vector<uint32_t> user_;           // by variable: the one thread that accesses it, kNobody or kMany
  std::map<uint32_t, int64_t> balance_;  // by semaphore, while building
  std::map<uint32_t, uint64_t> tokens_;  // by semaphore: as many at the start as the recorded run needs
  std::map<uint32_t, std::set<uint32_t>> barrier_users_;
  std::map<uint32_t, EventNumber> slept_, last_signal_;
  std::set<EventNumber> unexplained_;  // wake-ups that timed out or that no signal explains
};

}  // namespace cleave::prediction
