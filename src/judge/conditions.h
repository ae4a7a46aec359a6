// Sufficient conditions for non-atomicity: what three accesses, or two units, prove without any search.
// Private to check/.
#pragma once

#include <optional>

#include "judge/blocks.h"
#include "judge/memory_index.h"
#include "judge/value_flow.h"

namespace cleave::judge {

// Everything that the conditions and the exact search look at.
struct Case {
  const Trace& trace;
  const MemoryIndex& memory;
  const Blocks& blocks;
  const ValueFlows& flows;
  EventTriple triple;
  bool final_writes;
};

struct ConditionProof {
  const char* name;  // C_RWR, C_WWR, C_WRW, C_RWW, C_count, C_pair
  std::string why;
};

// The first condition that holds, in the order of the names above.
std::optional<ConditionProof> prove_by_conditions(const Case& judged);

}  // namespace cleave::judge
