// Pins: what keeps the accesses that the source has until they are recorded.
//
// The optimizer merges loads, removes stores that a later one overwrites and moves both out of loops. A trace
// of the result lacks the split that the programmer wrote: one read where the source has four. So part one of
// the pass makes every access that may be shared volatile, and part two takes that back right before it plans
// the records. Everything between still runs (inlining, promotion of locals, unrolling, simplification of all
// that is computed); only these accesses stay as many as they are and in their order.
//
// A local variable whose address leaves its function is pinned too, and after inlining it may turn out to be
// private. unpin_private() gives such accesses back to the optimizer, which promotes the variable to
// registers.
#pragma once

#include <llvm/IR/PassManager.h>

namespace cleave {

// Accesses that the program itself declared volatile, and atomic ones, are left as they are.
void pin_accesses(llvm::Function& function);
void unpin_accesses(llvm::Function& function);
// Whether there was one.
bool unpin_private(llvm::Function& function);

// Wherever locals may have become private: unpins and promotes them.
class PromotePrivatePass : public llvm::PassInfoMixin<PromotePrivatePass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace cleave
