// All interleavings of a small trace, by brute force: the oracle for every engine. Positions are EventIndex
// of the recorded trace. Exponential by nature: keep traces below about 20 events.
#pragma once

#include <compare>
#include <functional>
#include <span>
#include <vector>

#include "trace/core/trace.h"

namespace cleave::oracle {

// What makes an interleaving of the recorded events (or a prefix of one) feasible. Program order, fork and
// join, locks, conditions, semaphores and barriers always hold; see machine.h.
enum class Model {
  Synchronization,  // nothing more: an over-approximation
  KeepsWrites,  // every read reads from the write (or the initial value) that it read from in the recorded
                // trace: an under-approximation
  Values,       // a read may return another value than recorded; then its thread goes on only up to its next
           // branch, and what it writes from there on is unknown (equal to nothing). CTP's prefix semantics
           // for traces without expressions
};

struct EnumerateOptions {
  Model model = Model::Synchronization;
  bool initial_reads_free =
      false;  // KeepsWrites: reads of initial values may read anything (AVFilter's Table 1)
  bool tainted_writes_keep = false;  // Values: a thread with a changed read still writes what was recorded
};

// Whether some feasible prefix has these events, in this order. Other events may be anywhere, or missing.
bool feasible(const Trace& trace, std::span<const EventIndex> in_order, const EnumerateOptions& options);

struct EventTriple {
  EventIndex first, remote, second;
  friend auto operator<=>(const EventTriple&, const EventTriple&) = default;
};

// Consecutive accesses `first`, `second` of one outermost unit to one location, and an access `remote` of
// another thread to it, wherever they stand in the trace, that form RWR, RWW, WWR, WRW or WWW; an update is
// both.
std::vector<EventTriple> unserializable_triples(const Trace& trace);

// Those of them for which a feasible prefix has first < remote < second.
std::vector<EventTriple> feasible_triples(const Trace& trace, const EnumerateOptions& options);

// Calls `visit` with every feasible complete interleaving until it returns false.
void for_each_interleaving(const Trace& trace, const EnumerateOptions& options,
                           const std::function<bool(std::span<const EventIndex>)>& visit);

struct AtomicityOptions {
  bool final_writes = true;  // the last value of every location must be the recorded one as well
};

// Whether some serial order of the units explains the trace: every read returns what it returned. Outermost
// units are whole, split where the thread waits for a condition; every other access is a unit of its own.
// Units of one thread keep their order; a thread's units come after the unit that forks it and before the one
// that joins it (unless one unit does both, or such demands contradict each other).
bool atomic(const Trace& trace, const AtomicityOptions& options = {});

// The same for the part of the trace that `member`'s unit depends on: units that share a written location
// with it, directly or through others.
bool atomic_around(const Trace& trace, EventIndex member, const AtomicityOptions& options = {});

}  // namespace cleave::oracle
