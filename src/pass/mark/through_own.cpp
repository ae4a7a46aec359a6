#include "pass/mark/through_own.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IntrinsicInst.h>

#include "pass/mark/accessors.h"
#include "pass/name/debug_names.h"

namespace cleave {

using namespace llvm;

namespace {

const Value* base_of(const Value* pointer) { return getUnderlyingObject(pointer, 0); }

// The own object, by a parameter that stays what it was.
bool is_own(const Value* value) {
  if (!is_own_object(value)) return false;
  const auto* local = cast<AllocaInst>(cast<LoadInst>(value)->getPointerOperand());
  return count_if(local->users(), [](const User* user) { return isa<StoreInst>(user); }) == 1;
}

const Value* object_of(const CallBase& call) {
  const unsigned at = call.hasStructRetAttr() ? 1 : 0;
  if (call.arg_size() <= at || !call.getArgOperand(at)->getType()->isPointerTy()) return nullptr;
  return call.getArgOperand(at);
}

}  // namespace

ThroughOwn::ThroughOwn(const Function& function) {
  const DISubprogram* debug = function.getSubprogram();
  if (debug == nullptr || is_system(debug->getFile())) return;
  const DISubprogram* declaration = debug->getDeclaration() ? debug->getDeclaration() : debug;
  const auto* owner = dyn_cast_or_null<DICompositeType>(declaration->getScope());
  asks_ = owner == nullptr || !owner->getName().empty();
}

bool ThroughOwn::reaches(const Value* address) {
  if (!asks_) return false;
  const Value* base = base_of(address);
  looked_at_ = 0;
  return !is_own_object(base) && !isa<AllocaInst>(base) && from_own(base);
}

bool ThroughOwn::called_on(const CallBase& call) {
  const Function* callee = call.getCalledFunction();
  if (!asks_ || isa<IntrinsicInst>(call) || (callee != nullptr && callee->getName().starts_with("__cleave")))
    return false;
  const DISubprogram* debug = callee != nullptr ? callee->getSubprogram() : nullptr;
  if (debug != nullptr && is_system(debug->getFile())) return false;
  const Value* object = object_of(call);
  return object != nullptr && reaches(object);
}

// The own object itself counts: `Node** at = &head_; while (*at) at = &(*at)->next`.
bool ThroughOwn::from_own(const Value* pointer) {
  constexpr unsigned kMost = 256;
  if (++looked_at_ > kMost) return false;
  const Value* base = base_of(pointer);
  if (isa<ConstantPointerNull>(base) || is_own(base)) return true;
  if (const auto* load = dyn_cast<LoadInst>(base)) return read_from(load->getPointerOperand());
  if (const auto* select = dyn_cast<SelectInst>(base))
    return from_own(select->getTrueValue()) && from_own(select->getFalseValue());
  if (const auto* call = dyn_cast<CallBase>(base)) return passes_on(*call);
  // Where two expressions meet, and in the loops that make and destroy the elements of arrays.
  const auto* phi = dyn_cast<PHINode>(base);
  if (phi == nullptr) return false;
  if (!open_.insert(phi).second) return true;
  const bool all = all_of(phi->incoming_values(), [&](const Use& value) { return from_own(value.get()); });
  open_.erase(phi);
  return all;
}

bool ThroughOwn::read_from(const Value* place) {
  const Value* base = base_of(place);
  if (const auto* local = dyn_cast<AllocaInst>(base)) return local == place && always_from_own(*local);
  return from_own(base);
}

// A local variable to which nothing else is ever assigned.
bool ThroughOwn::always_from_own(const AllocaInst& local) {
  if (auto known = locals_.find(&local); known != locals_.end()) return known->second;
  if (!open_.insert(&local).second) return true;
  bool assigned = false;
  const bool only = all_of(local.users(), [&](const User* user) {
    if (isa<LoadInst>(user)) return true;
    if (const auto* intrinsic = dyn_cast<IntrinsicInst>(user)) return intrinsic->isLifetimeStartOrEnd();
    const auto* store = dyn_cast<StoreInst>(user);
    if (store == nullptr || store->getPointerOperand() != &local) return false;
    assigned = true;
    return from_own(store->getValueOperand());
  });
  open_.erase(&local);
  // What was found on the way, while others were taken for granted, is not kept.
  if (open_.empty()) locals_[&local] = only && assigned;
  return only && assigned;
}

// Smart pointers and their like: s_->balance calls operator-> on a field.
bool ThroughOwn::passes_on(const CallBase& call) {
  const Function* callee = call.getCalledFunction();
  const DISubprogram* debug = callee != nullptr ? callee->getSubprogram() : nullptr;
  const Value* object = object_of(call);
  if (debug == nullptr || object == nullptr || !is_system(debug->getFile())) return false;
  const bool points =
      StringSwitch<bool>(debug->getName()).Cases("operator->", "operator*", "get", true).Default(false);
  return points && callee->getReturnType()->isPointerTy() && from_own(object);
}

}  // namespace cleave
