// Which locks each thread holds at each event, in which mode, and what it has acquired since it took them
// (acquisition histories: Kahlon, Ivancic, Gupta; Farzan, Madhusudan, Sorrentino). States are interned: a
// state is a small number, equal numbers mean equal states, and "after acquiring m in state 17" is one table
// look-up.
//
// Two threads cannot be at two events together if they hold one lock there, one of them exclusively; or if
// the first holds a and has since acquired b, while the second holds b and has since acquired a. Both
// arguments are about the last acquisitions only, so they are true for locks that do not nest as well; what
// nesting gives is that nothing else excludes.
//
// Without lying: a lock that the recorded run itself shows not to exclude (released by a thread that does not
// hold it, or held twice at once) is ignored altogether. A semaphore that starts with one token and that
// every thread takes and gives back in turn is a lock. Histories are cut at kHistory locks: a shorter history
// excludes less, never more.
//
// Memory: 4 bytes an event plus 8 a lock operation. One pass, O(1) an operation.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "order/positions.h"

namespace cleave::order {

enum class LockStateId : uint32_t {};
constexpr LockStateId kNothingHeld{0};
enum class PauseSetId : uint32_t {};  // a set of states; a single state has its own number

struct LockUse {
  uint32_t lock;
  bool shared;
  friend auto operator<=>(const LockUse&, const LockUse&) = default;
};

struct HeldLock {
  LockUse use;
  uint32_t depth = 1;          // of a re-entrant lock
  std::vector<LockUse> since;  // acquired since, ascending
  friend bool operator==(const HeldLock&, const HeldLock&) = default;
};

// From acquire to release; released is kNever where the trace ends first.
struct CriticalSection {
  Position acquired, released;
  EventNumber acquire_event;
  bool shared;
};

class LockStates {
 public:
  static constexpr size_t kHistory = 16;

  LockStates(const Trace& trace, const ThreadPositions& positions);

  // What the event's thread holds once the event has happened; for an access, while it happens.
  LockStateId at(EventNumber event) const;
  LockStateId at(uint32_t thread, Position position) const;  // position 0: nothing
  std::span<const HeldLock> held(LockStateId state) const { return states_[raw(state)]; }
  size_t states() const { return states_.size(); }

  // Whether two threads can be in these two states at the same time. O(held locks and histories), remembered.
  bool compatible(LockStateId a, LockStateId b) const;

  // The states of a thread from after position `from` until before position `to`: where it can be paused
  // between the two. With more than kPauses of them it is one state that is a part of each: what is held
  // throughout. O(1) mostly.
  static constexpr size_t kPauses = 8;
  PauseSetId pauses(uint32_t thread, Position from, Position to);
  // Whether another thread can be in `state` while this one is in one of its pauses.
  bool compatible(PauseSetId pauses, LockStateId state) const;

  // Positions from `from` to before `to` after which the state is another than before, the first being `from`
  // itself.
  std::vector<Position> changes(uint32_t thread, Position from, Position to) const;

  // The thread's critical sections of a lock, by position.
  std::span<const CriticalSection> sections(uint32_t lock, uint32_t thread) const;
  // The section of `lock` that the thread is in at the position; null if it is in none.
  const CriticalSection* section_at(uint32_t lock, uint32_t thread, Position position) const;
  const std::vector<uint32_t>& users(uint32_t lock) const;
  bool ignored(uint32_t lock) const { return lock < irregular_.size() && irregular_[lock]; }

 private:
  friend class LockStateBuilder;
  struct Change {
    Position at;
    LockStateId state;
  };
  using State = std::vector<HeldLock>;  // by lock, ascending

  static constexpr uint32_t kSetBit = 1u << 31;
  LockStateId intern(State state);
  PauseSetId intern_set(std::vector<LockStateId> set);
  LockStateId after_acquire(LockStateId from, LockUse use);
  LockStateId after_release(LockStateId from, uint32_t lock, bool shared);
  size_t change_index(uint32_t thread, Position position) const;

  const Trace* trace_;
  const ThreadPositions* positions_;
  std::vector<uint32_t> change_of_;           // by event: number of changes of its thread so far
  std::vector<std::vector<Change>> changes_;  // by thread
  std::vector<std::vector<uint32_t>>
      last_free_;  // by thread and change: 1 + last change so far to nothing held
  std::vector<State> states_;
  std::vector<std::vector<LockStateId>> sets_;
  boost::unordered_flat_map<std::string, uint32_t> interned_, interned_sets_;
  boost::unordered_flat_map<uint64_t, LockStateId> acquired_, released_;
  mutable boost::unordered_flat_map<uint64_t, bool> compatible_;
  boost::unordered_flat_map<uint64_t, std::vector<CriticalSection>> sections_;  // lock << 32 | thread
  boost::unordered_flat_map<uint32_t, std::vector<uint32_t>> users_;
  std::vector<bool> irregular_;
};

}  // namespace cleave::order
