// Where each thread is: the locks it holds, the function calls it is in, and which accesses share a view,
// that is, one critical section, or outside of all locks one call of a function.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <vector>

#include "trace/core/trace.h"

namespace cleave::units {

enum class ViewId : uint32_t {};

// A call that is under way, as the marks of functions tell; rounds of loops are told by empty marks.
struct OpenCall {
  EventIndex begin = kNone<EventIndex>;
  UnitNameId name = kNone<UnitNameId>;
  ObjectId object = kNone<ObjectId>;
  SiteId site = kNone<SiteId>;
  ContextId context = kNone<ContextId>;
  uint32_t caller = UINT32_MAX;  // number of the call that it was made in
};

// When each lock that is held was acquired. Two accesses are protected together if they have one in common.
using Protection = boost::container::small_vector<EventIndex, 2>;
bool share(const Protection& a, const Protection& b);

// Follows one thread.
class ThreadSections {
 public:
  explicit ThreadSections(const Trace& trace) : trace_(trace) {}
  // Every event of the thread, in order.
  void feed(EventIndex index);
  const Protection& protection() const { return protection_; }
  // The calls that are under way, by number, outermost first.
  const std::vector<uint32_t>& calls() const { return open_; }
  const OpenCall& call(uint32_t number) const { return calls_[number]; }
  // Number of the innermost one; UINT32_MAX: none.
  uint32_t innermost() const { return open_.empty() ? UINT32_MAX : open_.back(); }
  // The innermost call that both are in: an access in call `number`, and one at `first`, before it. Null if
  // there is none.
  const OpenCall* covering(EventIndex first, uint32_t number) const;
  // Identifies the view of an access that is made now.
  EventIndex view() const;

 private:
  void acquire(SyncId lock, EventIndex at);
  void release(SyncId lock);
  const Trace& trace_;
  std::vector<std::pair<SyncId, EventIndex>> held_;
  Protection protection_;
  std::vector<OpenCall> calls_;  // all there were
  std::vector<uint32_t> open_;
  std::vector<bool> is_call_;  // by open mark: false for rounds and waits
};

}  // namespace cleave::units
