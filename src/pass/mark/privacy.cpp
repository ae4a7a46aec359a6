#include "pass/mark/privacy.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IntrinsicInst.h>

#include "pass/mark/containers.h"
#include "pass/mark/marks.h"

namespace cleave {

using namespace llvm;

namespace {

// What a use of a local variable's address does with it.
enum class Use { Harmless, PassesOn, Escapes };

Use classify(const llvm::Use& use) {
  const auto* user = cast<Instruction>(use.getUser());
  switch (user->getOpcode()) {
    case Instruction::Load:
      return Use::Harmless;
    case Instruction::Store:
      return use.getOperandNo() == 1 ? Use::Harmless : Use::Escapes;
    case Instruction::AtomicRMW:
    case Instruction::AtomicCmpXchg:
      return use.getOperandNo() == 0 ? Use::Harmless : Use::Escapes;
    case Instruction::ICmp:
      return Use::Harmless;
    case Instruction::GetElementPtr:
    case Instruction::BitCast:
    case Instruction::PHI:
    case Instruction::Select:
      return Use::PassesOn;
    case Instruction::Call: {
      const auto* call = cast<CallInst>(user);
      if (is_mark(*call) || tells_owned_memory(*call)) return Use::Harmless;
      if (isa<MemIntrinsic>(call)) return Use::Harmless;
      if (const auto* intrinsic = dyn_cast<IntrinsicInst>(call)) {
        if (intrinsic->isLifetimeStartOrEnd() || intrinsic->isAssumeLikeIntrinsic()) return Use::Harmless;
      }
      return Use::Escapes;
    }
    default:
      return Use::Escapes;
  }
}

}  // namespace

bool Privacy::escapes(const Value* root) {
  SmallVector<const Value*, 8> work{root};
  SmallPtrSet<const Value*, 16> seen{root};
  unsigned budget = 512;
  while (!work.empty()) {
    const Value* value = work.pop_back_val();
    for (const llvm::Use& use : value->uses()) {
      if (budget-- == 0) return true;
      if (!isa<Instruction>(use.getUser())) return true;
      Use kind = classify(use);
      if (kind == Use::Escapes) return true;
      if (kind == Use::PassesOn && seen.insert(use.getUser()).second) work.push_back(use.getUser());
    }
  }
  return false;
}

bool Privacy::is_private(const Value* pointer) {
  // A pointer that may be one of several (phi, select) is private when each is. getUnderlyingObjects looks
  // through.
  SmallVector<const Value*, 4> objects;
  getUnderlyingObjects(pointer, objects);
  for (const Value* object : objects) {
    const auto* argument = dyn_cast<Argument>(object);
    if (!isa<AllocaInst>(object) && (argument == nullptr || !argument->hasByValAttr())) return false;
    auto [at, fresh] = private_.try_emplace(object, false);
    if (fresh) at->second = !escapes(object);
    if (!at->second) return false;
  }
  return !objects.empty();
}

namespace {

bool publishes(const llvm::Use& use, Privacy& privacy) {
  const auto* user = dyn_cast<Instruction>(use.getUser());
  if (const auto* store = dyn_cast_or_null<StoreInst>(user))
    return use.getOperandNo() == 0 && !privacy.is_private(store->getPointerOperand());
  const auto* call = dyn_cast_or_null<CallBase>(user);
  if (call == nullptr || isa<IntrinsicInst>(call) || is_mark(*call) || tells_owned_memory(*call))
    return false;
  const Function* callee = call->getCalledFunction();
  if (callee == nullptr || !callee->isDeclaration() || !call->isArgOperand(&use)) return false;
  return !call->doesNotCapture(call->getArgOperandNo(&use));
}

bool is_published(const AllocaInst& local, Privacy& privacy) {
  SmallVector<const Value*, 8> work{&local};
  SmallPtrSet<const Value*, 16> seen{&local};
  unsigned budget = 256;
  while (!work.empty()) {
    for (const llvm::Use& use : work.pop_back_val()->uses()) {
      if (budget-- == 0 || publishes(use, privacy)) return true;
      const auto* user = use.getUser();
      bool passes_on = isa<GetElementPtrInst>(user) || isa<PHINode>(user) || isa<SelectInst>(user) ||
                       isa<BitCastInst>(user);
      if (passes_on && seen.insert(user).second) work.push_back(user);
    }
  }
  return false;
}

}  // namespace

SmallVector<AllocaInst*, 4> published_locals(Function& function) {
  SmallVector<AllocaInst*, 4> published;
  Privacy privacy;
  for (Instruction& instruction : function.getEntryBlock()) {
    auto* local = dyn_cast<AllocaInst>(&instruction);
    if (local != nullptr && local->isStaticAlloca() && is_published(*local, privacy))
      published.push_back(local);
  }
  return published;
}

bool is_constant_memory(const Value* pointer) {
  const Value* object = getUnderlyingObject(pointer);
  if (const auto* table = dyn_cast<LoadInst>(object)) return is_vtable_access(*table);  // an entry of it
  const auto* variable = dyn_cast<GlobalVariable>(object);
  return variable != nullptr && variable->isConstant();
}

bool is_vtable_access(const Instruction& access) {
  if (const MDNode* tag = access.getMetadata(LLVMContext::MD_tbaa)) {
    if (tag->isTBAAVtableAccess()) return true;
  }
  return access.hasMetadata(LLVMContext::MD_invariant_load);
}

}  // namespace cleave
