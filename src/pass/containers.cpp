#include "pass/containers.h"

#include <llvm/ADT/StringSet.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "pass/debug_names.h"

namespace cleave {

using namespace llvm;

namespace {

constexpr const char* kOwns = "__cleave_owns";

// vector, deque; map and set, list; unordered containers; string.
const StringSet<>& allocating_methods() {
  static const StringSet<> names{"_M_allocate",      "_M_allocate_map",  "_M_allocate_node",
                                 "_M_get_node",      "_M_allocate_buckets", "_M_create"};
  return names;
}

// The `this` of a method of a standard container that allocates for it; null for any other function.
Value* allocating_container(Function& function) {
  const DISubprogram* debug = function.getSubprogram();
  if (function.isDeclaration() || debug == nullptr || !function.getReturnType()->isPointerTy()) return nullptr;
  if (!is_system(debug->getFile()) || !allocating_methods().contains(debug->getName().split('<').first)) return nullptr;
  const DISubprogram* declaration = debug->getDeclaration() != nullptr ? debug->getDeclaration() : debug;
  if (!isa_and_nonnull<DICompositeType>(declaration->getScope()) || function.arg_empty()) return nullptr;
  if (!StringRef(qualified_name(declaration)).starts_with("std::")) return nullptr;
  Argument* first = function.getArg(0);
  return first->getType()->isPointerTy() && !first->hasStructRetAttr() ? first : nullptr;
}

}  // namespace

void tell_owned_memory(Module& module) {
  LLVMContext& context = module.getContext();
  Type* pointer = PointerType::get(context, 0);
  for (Function& function : module) {
    Value* container = allocating_container(function);
    if (container == nullptr) continue;
    FunctionCallee owns = module.getOrInsertFunction(kOwns, Type::getVoidTy(context), pointer, pointer);
    for (BasicBlock& block : function) {
      auto* leaves = dyn_cast<ReturnInst>(block.getTerminator());
      if (leaves == nullptr) continue;
      IRBuilder<> builder(leaves);
      CallInst* call = builder.CreateCall(owns, {container, leaves->getReturnValue()});
      call->setDoesNotThrow();
      call->setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
      for (unsigned i : {0u, 1u}) call->addParamAttr(i, Attribute::NoCapture);
    }
  }
}

bool tells_owned_memory(const CallBase& call) {
  const auto* callee = dyn_cast_or_null<Function>(call.getCalledOperand());
  return callee != nullptr && callee->getName() == kOwns;
}

}  // namespace cleave
