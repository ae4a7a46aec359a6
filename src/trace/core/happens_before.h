// Happens-before of the events of a trace, as they go by: program order, fork and join, locks, condition
// variables, semaphores, barriers, once, and atomic accesses of one location. Two accesses of one location by
// two threads, one of them a write, race if neither happens before the other.
//
// Cost: nothing for a plain access; O(threads) for a synchronization. Memory: a clock for each thread, for
// each synchronization object and for each location that is accessed atomically.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <vector>

#include "trace/core/event.h"

namespace cleave {

// A moment of a thread.
struct Epoch {
  uint32_t thread = UINT32_MAX;
  uint32_t time = 0;
};

class HappensBefore {
 public:
  // Each event, in its order.
  void feed(const Event& event);
  // Now, for this thread.
  Epoch now(ThreadId thread);
  // Whether what happened then happens before what the thread does now.
  bool before(Epoch then, ThreadId thread);

 private:
  using Clock = std::vector<uint32_t>;  // by thread; what is not there is 0
  Clock& clock(uint32_t thread);
  void release(uint32_t thread, Clock& into);
  static void join(Clock& into, const Clock& from);
  void synchronize(const Event& event);

  std::vector<Clock> threads_;
  boost::unordered_flat_map<uint32_t, Clock> syncs_, atomics_;  // by synchronization object, by variable
};

}  // namespace cleave
