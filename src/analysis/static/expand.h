// Expands calls into their callers, from the leaves up, so that what follows sees each call in its own
// context: critical sections inside lock wrappers, objects made by small factories, values that go through
// parameters and results. Recursive calls, calls through pointers and what does not fit the budget stay
// calls.
#pragma once

#include <llvm/IR/Module.h>

#include <cstdint>

namespace cleave::static_analysis {

struct Expansion {
  uint64_t expanded = 0;  // calls
  uint64_t kept = 0;      // direct calls of defined functions that stay
  uint64_t instructions = 0;
  bool budget_reached = false;
};

// Afterwards local variables whose address is not needed are values, and branches on constants are gone.
Expansion expand_calls(llvm::Module& module, uint64_t most_instructions);

}  // namespace cleave::static_analysis
