#include "pass/mark/pins.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Scalar/SROA.h>

#include "pass/mark/marks.h"
#include "pass/mark/privacy.h"

namespace cleave {

using namespace llvm;

namespace {

constexpr unsigned kMostRounds =
    4;  // of promotion: each may show that what a promoted local pointed to is private

// The memory that a plain access or copy touches: one pointer, or target and source. Nothing for everything
// else.
SmallVector<Value*, 2> touched_by(Instruction& instruction) {
  if (auto* load = dyn_cast<LoadInst>(&instruction); load != nullptr && !load->isAtomic())
    return {load->getPointerOperand()};
  if (auto* store = dyn_cast<StoreInst>(&instruction); store != nullptr && !store->isAtomic())
    return {store->getPointerOperand()};
  if (auto* transfer = dyn_cast<MemTransferInst>(&instruction))
    return {transfer->getRawDest(), transfer->getRawSource()};
  if (auto* fill = dyn_cast<MemSetInst>(&instruction)) return {fill->getRawDest()};
  return {};
}

bool is_volatile(const Instruction& instruction) {
  if (const auto* memory = dyn_cast<MemIntrinsic>(&instruction)) return memory->isVolatile();
  return instruction.isVolatile();
}

void set_volatile(Instruction& instruction, bool value) {
  if (auto* load = dyn_cast<LoadInst>(&instruction)) load->setVolatile(value);
  if (auto* store = dyn_cast<StoreInst>(&instruction)) store->setVolatile(value);
  if (auto* memory = dyn_cast<MemIntrinsic>(&instruction))
    memory->setVolatile(ConstantInt::getBool(instruction.getContext(), value));
}

void unpin(Instruction& instruction) {
  set_volatile(instruction, false);
  instruction.setMetadata(kPinMetadata, nullptr);
}

bool any_private(ArrayRef<Value*> pointers, Privacy& privacy) {
  return any_of(pointers, [&](const Value* pointer) { return privacy.is_private(pointer); });
}

}  // namespace

void pin_accesses(Function& function) {
  Privacy privacy;
  MDNode* pin = MDNode::get(function.getContext(), {});
  for (Instruction& instruction : instructions(function)) {
    SmallVector<Value*, 2> pointers = touched_by(instruction);
    if (pointers.empty() || is_volatile(instruction)) continue;
    if (any_private(pointers, privacy) || is_vtable_access(instruction)) continue;
    if (!isa<MemIntrinsic>(instruction) && is_constant_memory(pointers.front())) continue;
    set_volatile(instruction, true);
    instruction.setMetadata(kPinMetadata, pin);
  }
}

void unpin_accesses(Function& function) {
  for (Instruction& instruction : instructions(function)) {
    if (instruction.hasMetadata(kPinMetadata)) unpin(instruction);
  }
}

bool unpin_private(Function& function) {
  Privacy privacy;
  bool changed = false;
  for (Instruction& instruction : instructions(function)) {
    if (!instruction.hasMetadata(kPinMetadata)) continue;
    if (!any_private(touched_by(instruction), privacy)) continue;
    unpin(instruction);
    changed = true;
  }
  return changed;
}

PreservedAnalyses PromotePrivatePass::run(Function& function, FunctionAnalysisManager& analyses) {
  PreservedAnalyses preserved = PreservedAnalyses::all();
  for (unsigned round = 0; round < kMostRounds && unpin_private(function); ++round) {
    analyses.invalidate(function, PreservedAnalyses::none());
    PreservedAnalyses left = SROAPass(SROAOptions::ModifyCFG).run(function, analyses);
    analyses.invalidate(function, left);
    preserved = PreservedAnalyses::none();
  }
  return preserved;
}

}  // namespace cleave
