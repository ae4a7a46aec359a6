// Stage filter: AVFilter (Zeng, Sun, Liu, He), with the corrections that brute force asks for.
//
// A triple (i, j, k) is dropped when bringing the remote access j between i and k breaks a read-after-write
// relation that the three accesses depend on. With prev and next, the remote thread's neighbouring accesses
// of the location:
//   j after k: prev depends on the unit's thread at or after i; or the way to j depends on it at or after k;
//   or a read
//     of the unit's thread in [i, k) that a branch up to k follows gets another source, because the remote
//     thread's writes up to prev move before i.
//   j before i: the way to i depends on the remote thread at or after j (reading i itself counts only if a
//   branch
//     follows before k); or a read in (i, k), followed by a branch up to k, depends on the remote thread at
//     or after next (after j itself if j reads: what the remote thread does with another value is not known).
//   i < j < k: it was observed and is kept.
// "Depends" is asked of clocks of program order, reads-from and synchronization partners, so that chains
// through other threads count; two look-ups instead of a scan of the trace. A survivor is a candidate, not a
// proof: values may flow without a branch, and other threads' reads may change.
//
// Cost: O(log) a triple, plus the shorter of the unit's reads in [i, k) and the remote thread's writes in (i,
// prev].
#pragma once

#include "analysis/predict/trace_index.h"

namespace cleave::prediction {

class Filter {
 public:
  // Needs facts.observed. Memory: 8 bytes a shared access.
  explicit Filter(const TraceIndex& facts);

  bool keeps(const Triple& triple) const;

 private:
  bool drops_later(const Triple& triple) const;    // j after k
  bool drops_earlier(const Triple& triple) const;  // j before i
  bool source_changes(EventNumber read, EventNumber first, EventNumber prev, uint32_t remote) const;
  bool some_source_changes(const Triple& triple, EventNumber prev) const;
  EventNumber previous_access(EventNumber access) const;
  EventNumber next_access(EventNumber access) const;
  bool writes_within(uint32_t variable, uint32_t thread, EventNumber after, EventNumber upto) const;
  // The last position in (from, to] that a branch comes right before (or is); 0 if there is none.
  Position last_branch(uint32_t thread, Position from, Position to) const;
  // The thread's shared reads (writes) with positions in [from, to).
  std::span<const EventNumber> within(const std::vector<EventNumber>& events, EventNumber from,
                                      EventNumber to) const;

  const TraceIndex& facts_;
  std::vector<std::vector<EventNumber>> reads_, writes_;  // by thread: accesses of shared locations
};

}  // namespace cleave::prediction
