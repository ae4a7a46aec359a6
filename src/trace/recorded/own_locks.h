// Locks that a program makes from atomics, recognized by how they are used while the trace is read:
// - test-and-set and compare-exchange: an update with acquire order turns one and the same value (free) into
// another; until
//   the same thread stores the free value again, with release order, nothing changes it;
// - ticket: a thread that drew v from a counter (v to v + 1) reads v, with acquire order, in another
// location, and sets that to
//   v + 1 before anybody else who drew a ticket gets in.
// A location is called a lock from the first time on that a second thread takes it after another has taken
// and freed it. One operation that does not fit, and it never is again.
//
// Why that is sound: whoever takes such a lock has seen the value that only its holder restores, so sections
// exclude each other in every order of these operations that memory allows.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>

#include "base/ids.h"
#include "trace/core/event.h"

namespace cleave {

class OwnLocks {
 public:
  struct Operation {
    ThreadId thread;
    uint64_t address;
    EventKind kind;  // Read, Write or Update
    MemoryOrder order;
    uint64_t before, after;  // of a read both are what it found
  };
  enum class Step : uint8_t {
    None,
    Acquires,  // the lock is taken right behind the operation
    Releases,  // and given back right before it
    Ends,      // it is no lock; `holder` has to give it back before the operation
  };
  struct Seen {
    Step step = Step::None;
    ThreadId holder = kNone<ThreadId>;
  };

  // The next atomic operation of the trace. O(1).
  Seen see(const Operation& operation);
  // The memory is somebody else's from now on. O(bytes), or O(locations) if those are fewer.
  void forget(uint64_t address, uint64_t bytes);

 private:
  struct Lock {
    uint64_t free = 0;  // value while nobody has it; of a ticket lock the ticket whose turn it is
    ThreadId holder = kNone<ThreadId>;
    ThreadId first = kNone<ThreadId>;  // who took it and gave it back first
    bool begun = false, ticket = false, several = false, told = false, broken = false;
  };
  struct Drawn {
    uint64_t address = 0, ticket = 0;
  };

  Seen update(Lock& lock, const Operation& operation);
  Seen write(Lock& lock, const Operation& operation);
  Seen read(const Operation& operation);
  static Seen take(Lock& lock, ThreadId thread);
  static Seen give_back(Lock& lock, uint64_t free);
  static Seen break_off(Lock& lock);

  boost::unordered_flat_map<uint64_t, Lock> locks_;
  boost::unordered_flat_map<uint32_t, Drawn> drawn_;  // by thread: its newest ticket
};

}  // namespace cleave
