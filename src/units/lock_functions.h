// Functions that take a lock for their caller: a project's own `mutex_enter`, a class's `lock()`, a guard's
// constructor. A critical section is named after the innermost function that covers all of it, and such a
// function covers only its beginning.
//
// They are learned from what happens: a function that has returned while its lock is still held was called to
// take it. Contexts have inlined calls too, so optimization does not change that.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <string>
#include <unordered_set>

#include "base/ids.h"
#include "trace/core/trace.h"

namespace cleave {

class LockFunctions {
 public:
  // `tables` must outlive this; it may grow.
  explicit LockFunctions(const Trace& tables) : tables_(&tables) {}

  // A thread that took a lock at one place was, still with the lock, or to release it, in `later`. Amortised
  // O(1): each pair of contexts is looked at once.
  void held(SiteId taken_at, ContextId taken_in, ContextId later) {
    if (taken_in == later || taken_at == kNone<SiteId>) [[likely]]
      return;
    if (known_.insert(uint64_t{raw(taken_in)} << 32 | raw(later)).second) learn(taken_at, taken_in, later);
  }
  // The function that a critical section belongs to, of those that were open when its lock was taken: the
  // innermost that is neither such a function nor code of a system header. Empty where no place is known.
  std::string home(SiteId taken_at, ContextId taken_in) const;

 private:
  void learn(SiteId taken_at, ContextId taken_in, ContextId later);

  const Trace* tables_;
  boost::unordered_flat_set<uint64_t> known_;  // pairs of contexts
  std::unordered_set<std::string> functions_;
};

}  // namespace cleave
