// A prefix of every thread, closed under "must come before": what a query is asked on.
#pragma once

#include <vector>

#include "solve/trace_index.h"

namespace cleave {

class Slice {
 public:
  explicit Slice(const TraceIndex& index) : index_(&index), length_(index.trace().threads().size(), 0) {}

  // Adds the event, all that must come before it, and the releases that let others go on behind it.
  void add(uint32_t event);
  bool contains(uint32_t event) const {
    return index_->position_in_thread(event) < length_[raw(index_->trace().events()[event].thread)];
  }
  // Events of a thread that are in it: a prefix of TraceIndex::thread_events.
  uint32_t length(ThreadId thread) const { return length_[raw(thread)]; }
  uint32_t events() const;
  // Events that adding `event` would bring in.
  uint32_t cost(uint32_t event) const;

 private:
  const TraceIndex* index_;
  std::vector<uint32_t> length_;
};

}  // namespace cleave
