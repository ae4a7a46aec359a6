#include "pass/record/weight.h"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

namespace cleave {

using namespace llvm;

bool is_local(const Value* pointer) { return isa<AllocaInst>(getUnderlyingObject(pointer)); }

bool has_loop(const Function& function) {
  for (auto component = scc_begin(&function); !component.isAtEnd(); ++component) {
    if (component.hasCycle()) return true;
  }
  return false;
}

unsigned Weights::of_instruction(const Instruction& instruction) {
  if (const auto* load = dyn_cast<LoadInst>(&instruction)) return is_local(load->getPointerOperand()) ? 0 : 1;
  if (const auto* store = dyn_cast<StoreInst>(&instruction))
    return is_local(store->getPointerOperand()) ? 0 : 1;
  if (isa<AtomicRMWInst>(instruction) || isa<AtomicCmpXchgInst>(instruction)) return 1;
  const auto* call = dyn_cast<CallBase>(&instruction);
  if (call == nullptr) return 0;
  if (isa<AnyMemIntrinsic>(call)) return 2;
  if (isa<IntrinsicInst>(call)) return 0;
  const Function* callee = call->getCalledFunction();
  return callee != nullptr ? of(*callee) : 2;
}

unsigned Weights::measure(const Function& function) {
  if (function.doesNotAccessMemory()) return 0;
  if (function.isDeclaration() || !function.hasExactDefinition()) {
    // Of an inline function every definition is the same program text.
    if (function.isDeclaration() || !function.hasLinkOnceODRLinkage()) return 2;
  }
  unsigned weight = 0;
  for (const Instruction& instruction : instructions(function)) {
    weight += of_instruction(instruction);
    if (weight >= 2) return 2;
  }
  return weight != 0 && has_loop(function) ? 2 : weight;
}

unsigned Weights::of(const Function& function) {
  auto [at, fresh] = known_.try_emplace(&function, 2);  // while it is being measured: calls itself
  if (!fresh) return at->second;
  unsigned weight = measure(function);
  known_[&function] = weight;
  return weight;
}

bool Weights::only_reads(const Instruction& instruction) {
  if (!instruction.mayWriteToMemory()) return true;
  if (const auto* store = dyn_cast<StoreInst>(&instruction))
    return store->isSimple() && is_local(store->getPointerOperand());
  const auto* call = dyn_cast<CallBase>(&instruction);
  if (call == nullptr) return false;  // atomic and volatile accesses, fences
  if (const auto* memory = dyn_cast<AnyMemIntrinsic>(call)) return is_local(memory->getRawDest());
  if (const auto* intrinsic = dyn_cast<IntrinsicInst>(call))
    return intrinsic->isLifetimeStartOrEnd() || intrinsic->isAssumeLikeIntrinsic();
  const Function* callee = call->getCalledFunction();
  return callee != nullptr && only_reads(*callee);
}

bool Weights::only_reads(const Function& function) {
  if (function.onlyReadsMemory()) return true;
  if (function.isDeclaration()) return false;
  if (!function.hasExactDefinition() && !function.hasLinkOnceODRLinkage()) return false;
  auto [at, fresh] = readers_.try_emplace(&function, true);  // what calls itself adds nothing by that
  if (!fresh) return at->second;
  bool only = true;
  for (const Instruction& instruction : instructions(function)) only = only && only_reads(instruction);
  readers_[&function] = only;
  return only;
}

}  // namespace cleave
