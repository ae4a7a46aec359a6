// Vector clocks of every event of every thread, kept as what changes. The clock of an event says, for each
// thread u, how many of u's first events come before it; the set of those events is closed downwards. Along a
// thread a component only grows, and grows only where the thread learns something of another one, so each
// (thread, component) has a short list of steps. Asking for a component is one binary search; memory is 8
// bytes a step, whatever the trace's length.
#pragma once

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <vector>

#include "order/positions.h"

namespace cleave::order {

// A clock by itself, for where two or more are compared: thread and how many of its first events.
struct Component {
  uint32_t thread;
  Position value;
};
using Clock = std::vector<Component>;  // each thread at most once, ascending

class ClockHistory {
 public:
  explicit ClockHistory(size_t threads);

  // From position `at` of thread t on, the first `value` events of u come before. Calls for one t must not go
  // back.
  void raise(uint32_t t, Position at, uint32_t u, Position value);
  // The event of t at `at` comes after the event of u at `upto` and so after all that comes before that.
  void join(uint32_t t, Position at, uint32_t u, Position upto);
  void join(uint32_t t, Position at, const Clock& clock);

  // How many of u's first events come before the event of t at position `at`; that event itself counts for u
  // == t.
  Position known(uint32_t t, Position at, uint32_t u) const;
  // The first position of t whose event comes after u's event at `value`; kNever if none does.
  Position first_knowing(uint32_t t, uint32_t u, Position value) const;
  // The whole clock of t's event at `at`, its own component included.
  Clock clock(uint32_t t, Position at) const;
  // Threads other than t of which t ever learns something.
  const std::vector<uint32_t>& components(uint32_t t) const { return components_[t]; }
  uint64_t steps() const { return steps_; }

 private:
  struct Step {
    Position at, value;
  };
  using Steps = std::vector<Step>;
  static constexpr uint32_t kNoList = UINT32_MAX;
  static uint64_t key(uint32_t t, uint32_t u) { return static_cast<uint64_t>(t) << 32 | u; }
  uint32_t list_of(uint32_t t, uint32_t u) const {
    if (!dense_.empty()) return dense_[t * components_.size() + u];
    auto found = index_.find(key(t, u));
    return found == index_.end() ? kNoList : found->second;
  }
  const Steps* find(uint32_t t, uint32_t u) const {
    uint32_t list = list_of(t, u);
    return list == kNoList ? nullptr : &lists_[list];
  }
  Steps& make(uint32_t t, uint32_t u);
  static Position value_at(const Steps& steps, Position at);
  // The same, for a position that is probably near the end: costs the logarithm of how far from it.
  static Position recent_value_at(const Steps& steps, Position at);

  std::vector<std::vector<uint32_t>> components_;
  std::vector<uint32_t> dense_;                          // list of each (t, u), where there are few threads
  boost::unordered_flat_map<uint64_t, uint32_t> index_;  // and where there are many
  std::vector<Steps> lists_;
  uint64_t steps_ = 0;
};

// Componentwise minimum: what comes before whichever of the two it is.
Clock meet(const Clock& a, const Clock& b);

}  // namespace cleave::order
