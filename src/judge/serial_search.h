// The exact method: is there a serial order of the steps that explains all values? Private to check/.
#pragma once

#include <cstdint>
#include <vector>

#include "judge/projection.h"

namespace cleave::judge {

enum class SearchOutcome : uint8_t { Found, None, OutOfBudget };

struct SearchResult {
  SearchOutcome outcome = SearchOutcome::OutOfBudget;
  std::vector<uint32_t> order;  // Found: steps
  uint64_t states = 0;
};

// The order of conflicts, if it has no cycle: such an order always explains the trace. O(touches log
// threads).
SearchResult order_by_conflicts(const Projection& projection);

// All orders, with memory: a prefix is tried once for each set of steps it contains and memory it leaves.
// Steps that no other step can be in the way of are taken at once, and a prefix is given up as soon as a
// value that is still needed can no longer appear. Exponential in the worst case, linear when values tell the
// order; stops after `budget` states. States are told apart by 128-bit fingerprints.
SearchResult search_all_orders(const Projection& projection, bool final_writes, uint64_t budget);

}  // namespace cleave::judge
