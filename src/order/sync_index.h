// Who operates on each condition variable, semaphore and barrier, where in his thread, and how many tokens or
// parties it has. One pass; memory is proportional to those operations. Locks are in lock_states.h.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <vector>

#include "order/positions.h"

namespace cleave::order {

// The operations of one kind that one thread does on one object: positions, ascending.
struct ThreadOperations {
  uint32_t thread;
  std::vector<Position> at;
};
using Operations = std::vector<ThreadOperations>;

const ThreadOperations* of_thread(const Operations& operations, uint32_t thread);
// How many of them are at positions up to `upto`.
uint64_t count_upto(const ThreadOperations& operations, Position upto);

struct SyncUse {
  Operations signals;  // and broadcasts
  Operations posts, downs, arrivals;
  uint64_t tokens =
      0;  // of a semaphore at the start: as said, and at least as many as the recorded run needs
  uint64_t parties = 0;  // of a barrier: as said, else as many as arrived before the first passed
};

class SyncIndex {
 public:
  SyncIndex(const Trace& trace, const ThreadPositions& positions);

  // Null for an object without such operations.
  const SyncUse* use(SyncId sync) const;

 private:
  SyncUse& make(SyncId sync);

  boost::unordered_flat_map<uint32_t, uint32_t> index_;
  std::vector<SyncUse> uses_;
};

}  // namespace cleave::order
