// The downward closure that a reordering starts with: see reordering.h.
#pragma once

#include <vector>

#include "analysis/predict/trace_index.h"

namespace cleave::prediction {

class Closure {
 public:
  explicit Closure(const TraceIndex& facts) : facts_(facts), prefix_(facts.trace.threads().size(), 0) {}

  // Adds the thread's first events up to the position, and what they need. A thread that is fixed is not
  // extended.
  void add(uint32_t thread, Position position);
  // Nothing of this thread may be added beyond the position.
  void fix(uint32_t thread, Position position) { fixed_.push_back({thread, position}); }
  // Nobody else may stay inside a critical section of this lock.
  void want(order::LockUse lock) { wanted_.push_back(lock); }

  // Extends threads until of any two conflicting sections of a lock the earlier ends. False if a fixed thread
  // would have to go on, or a section never ends.
  bool close();

  const std::vector<Position>& prefix() const { return prefix_; }

 private:
  bool within_limits() const;
  // 1: extended; 0: nothing to do; -1: impossible.
  int settle(uint32_t thread);
  bool must_end(const order::CriticalSection& section, uint32_t thread, uint32_t lock) const;
  bool is_fixed(uint32_t thread) const;

  const TraceIndex& facts_;
  std::vector<Position> prefix_;
  std::vector<std::pair<uint32_t, Position>> fixed_;
  std::vector<order::LockUse> wanted_;
};

}  // namespace cleave::prediction
