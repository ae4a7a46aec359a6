#include "pass/mark/marks.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

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

namespace {

// A round of a loop, or a place to wait, is a mark that stands for itself.
bool stands_for_itself(const CallBase& begin) {
  const auto* number = dyn_cast<ConstantInt>(begin.getArgOperand(0));
  const NamedMDNode* list = begin.getModule()->getNamedMetadata(kUnitList);
  if (number == nullptr || list == nullptr || number->getZExtValue() >= list->getNumOperands()) return false;
  const MDNode* unit = list->getOperand(static_cast<unsigned>(number->getZExtValue()));
  const uint64_t source = mdconst::extract<ConstantInt>(unit->getOperand(1))->getZExtValue();
  return source == kRoundSource || source == kMayWaitSource;
}

}  // namespace

bool erase_empty_units(Function& function) {
  SmallVector<CallInst*, 8> dead, open;  // open: begun in this block, and nothing since the last of them
  for (BasicBlock& block : function) {
    open.clear();
    for (Instruction& instruction : block) {
      auto* call = dyn_cast<CallInst>(&instruction);
      if (call != nullptr && is_unit_begin(*call)) {
        if (stands_for_itself(*call)) {
          open.clear();
          continue;
        }
        open.push_back(call);
      } else if (call != nullptr && is_unit_end(*call)) {
        if (open.empty() || open.back()->getArgOperand(0) != call->getArgOperand(0)) {
          open.clear();
          continue;
        }
        dead.push_back(open.pop_back_val());
        dead.push_back(call);
      } else if (instruction.mayReadOrWriteMemory() || isa<CallBase>(instruction)) {
        const auto* intrinsic = dyn_cast<IntrinsicInst>(&instruction);
        if (intrinsic != nullptr &&
            (intrinsic->isAssumeLikeIntrinsic() || !intrinsic->mayReadOrWriteMemory()))
          continue;
        open.clear();
      }
    }
  }
  for (CallInst* call : dead) call->eraseFromParent();
  return !dead.empty();
}

}  // namespace cleave
