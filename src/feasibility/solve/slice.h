// A prefix of every thread, closed under "must come before": what a query is asked on. Or a window of the
// run: what was recorded before it has happened as it was recorded, and the slice is what comes after.
#pragma once

#include <vector>

#include "feasibility/solve/slice_index.h"

namespace cleave {

class Slice {
 public:
  explicit Slice(const SliceIndex& index)
      : index_(&index),
        first_(index.trace().threads().size(), 0),
        length_(index.trace().threads().size(), 0) {}
  // A window that begins with this event.
  Slice(const SliceIndex& index, uint32_t from);

  // Adds the event, all that must come before it, and the releases that let others go on behind it.
  void add(uint32_t event);
  bool contains(uint32_t event) const {
    return index_->position_in_thread(event) < length_[raw(index_->trace().events()[event].thread)];
  }
  // Contained, and not before the window.
  bool inside(uint32_t event) const {
    return contains(event) &&
           index_->position_in_thread(event) >= first_[raw(index_->trace().events()[event].thread)];
  }
  uint32_t from() const { return from_; }  // where the window begins; 0: it is the whole run
  uint32_t first(ThreadId thread) const { return first_[raw(thread)]; }
  // Events of a thread that are in it: a prefix of SliceIndex::thread_events.
  uint32_t length(ThreadId thread) const { return length_[raw(thread)]; }
  uint32_t events() const;
  // Events that adding `event` would bring in.
  uint32_t cost(uint32_t event) const;

 private:
  const SliceIndex* index_;
  uint32_t from_ = 0;
  std::vector<uint32_t> first_, length_;
};

}  // namespace cleave
