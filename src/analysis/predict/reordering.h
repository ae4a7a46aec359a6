// Stage exact: another order of the recorded events in which the triple happens, built and not only argued.
//
// Pause and resume: the unit's thread is paused at a cut between its two accesses, the remote thread before
// its access or before the critical section around it. What both need to come so far (program order,
// reads-from, synchronization partners, and for locks: of two sections of one lock the earlier must end) is a
// set of events that is closed downwards, given by one position a thread; run in recorded order it repeats
// the recorded run (sync-preserving: Mathur, Pavlogiannis, Viswanathan). From there on it goes event by
// event: the unit up to its cut, the remote thread through its access, and out of its critical section if the
// unit needs that lock, then the unit to its second access. Locks must be free, tokens there, and values the
// recorded ones, except as steps.h allows.
//
// keeps_writes says that no read changed its source (but the remote and the second access, from the initial
// value): the under-approximate model of the AVFilter paper, which is what stage exact counts. Without it the
// reordering is by value.
//
// Cost: O(threads × locks held) for the set plus the steps at the end; at most kCuts × 2 attempts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/predict/trace_index.h"

namespace cleave::prediction {

struct Reordering {
  std::vector<Position> prefix;   // by thread: how many of its first events, in recorded order
  std::vector<EventNumber> tail;  // then these; ends with the second access
  bool keeps_writes = false;
  Triple triple{};  // that happens in it
  std::array<std::optional<uint64_t>, 3>
      values;  // what its three accesses read or write then, where that is known

  // All events in their new order. O(trace).
  std::vector<EventNumber> events(const TraceIndex& facts) const;
};

class Reorderer {
 public:
  static constexpr size_t kCuts = 4;
  static constexpr size_t kTail = 20'000;

  // Needs facts.must, facts.observed and facts.locks.
  explicit Reorderer(const TraceIndex& facts) : facts_(facts) {}

  std::optional<Reordering> find(const Triple& triple) const;

 private:
  class Attempt;
  std::optional<Reordering> attempt(const Triple& triple, Position cut, Position hold) const;
  std::vector<Position> cuts(const Triple& triple) const;
  // How far both threads can go without what the other does beyond these positions.
  void retreat(uint32_t unit, Position* cut, uint32_t remote, Position* hold) const;

  const TraceIndex& facts_;
};

}  // namespace cleave::prediction
