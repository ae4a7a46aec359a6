#include "pass/marks.h"

#include <llvm/IR/Instructions.h>

namespace cleave {

using namespace llvm;

namespace {

bool calls(const CallBase& call, StringRef name) {
  const auto* callee = dyn_cast_or_null<Function>(call.getCalledOperand());
  return callee != nullptr && callee->getName() == name;
}

}  // namespace

bool is_unit_begin(const CallBase& call) { return calls(call, kUnitBeginMark); }
bool is_unit_end(const CallBase& call) { return calls(call, kUnitEndMark); }

void erase_marks(Function& function) {
  for (BasicBlock& block : function) {
    for (Instruction& instruction : make_early_inc_range(block)) {
      auto* call = dyn_cast<CallInst>(&instruction);
      if (call != nullptr && is_mark(*call)) call->eraseFromParent();
    }
  }
}

}  // namespace cleave
