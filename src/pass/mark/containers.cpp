#include "pass/mark/containers.h"

#include <llvm/ADT/StringSet.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "abi/owns.h"
#include "pass/name/debug_names.h"

namespace cleave {

using namespace llvm;

namespace {

constexpr const char* kOwns = "__cleave_owns";

// vector, deque; map and set, list; unordered containers; string.
const StringSet<>& allocating_methods() {
  static const StringSet<> names{"_M_allocate", "_M_allocate_map",     "_M_allocate_node",
                                 "_M_get_node", "_M_allocate_buckets", "_M_create"};
  return names;
}

// The class of the standard library that the function is a method of, with its first argument as `this`; else
// null.
const DICompositeType* library_class(const Function& function) {
  const DISubprogram* debug = function.getSubprogram();
  if (function.isDeclaration() || debug == nullptr || !is_system(debug->getFile()) || function.arg_empty())
    return nullptr;
  const DISubprogram* declaration = debug->getDeclaration() != nullptr ? debug->getDeclaration() : debug;
  if (!StringRef(qualified_name(declaration)).starts_with("std::")) return nullptr;
  const Argument* first = function.getArg(0);
  if (!first->getType()->isPointerTy() || first->hasStructRetAttr()) return nullptr;
  return dyn_cast_or_null<DICompositeType>(declaration->getScope());
}

StringRef template_name(StringRef name) { return name.split('<').first; }

// The `this` of a method of a standard container that allocates for it; null for any other function.
Value* allocating_container(Function& function) {
  if (library_class(function) == nullptr || !function.getReturnType()->isPointerTy()) return nullptr;
  if (!allocating_methods().contains(template_name(function.getSubprogram()->getName()))) return nullptr;
  return function.getArg(0);
}

// What a method of a class that holds a container's memory does with another of its class. Each exchange is
// told once: a vector and a deque leave it to their innermost part, the others do it themselves.
unsigned handing_over(StringRef type, StringRef method) {
  static const StringSet<> parts{"_Vector_impl_data", "_Deque_impl_data"},
      whole{"list", "_List_base", "_Rb_tree", "_Hashtable"};
  if (!parts.contains(type) && !whole.contains(type)) return 0;
  if (method == (parts.contains(type) ? "_M_swap_data" : "swap")) return CLEAVE_OWNS_EXCHANGED;
  if (method == "splice" || method == "merge" || method.starts_with("_M_merge")) return CLEAVE_OWNS_SOME;
  return method == "_M_move_assign" || method == type ? CLEAVE_OWNS_ALL : 0;
}

// Whether the type is a reference through which a container of this class can be emptied.
bool takes_from(const DIType* type, StringRef name) {
  const auto* reference = dyn_cast_or_null<DIDerivedType>(type);
  if (reference == nullptr || (reference->getTag() != dwarf::DW_TAG_rvalue_reference_type &&
                               reference->getTag() != dwarf::DW_TAG_reference_type))
    return false;
  const DIType* target = reference->getBaseType();
  while (const auto* alias = dyn_cast_or_null<DIDerivedType>(target)) {
    if (alias->getTag() != dwarf::DW_TAG_typedef) return false;  // const, too
    target = alias->getBaseType();
  }
  return target != nullptr && template_name(target->getName()) == name;
}

struct OwnershipTransfer {
  Argument* from = nullptr;
  unsigned how = 0;
};

OwnershipTransfer handing_method(Function& function) {
  const DICompositeType* type = library_class(function);
  if (type == nullptr) return {};
  StringRef name = template_name(type->getName());
  unsigned how = handing_over(name, template_name(function.getSubprogram()->getName()));
  if (how == 0) return {};
  DITypeRefArray types = function.getSubprogram()->getType()->getTypeArray();
  // types: result, this, then the rest, one argument each for what these methods take.
  for (unsigned i = 2; i < types.size() && i - 1 < function.arg_size(); ++i) {
    if (takes_from(types[i], name) && function.getArg(i - 1)->getType()->isPointerTy())
      return {function.getArg(i - 1), how};
  }
  return {};
}

// Where a node handle is put into a map: the node is the handle's first word.
bool takes_a_node(const Function& function) {
  const DISubprogram* debug = function.getSubprogram();
  if (function.isDeclaration() || debug == nullptr || !is_system(debug->getFile())) return false;
  if (!debug->getName().starts_with("_M_reinsert_node")) return false;
  size_t first = function.arg_empty() || !function.getArg(0)->hasStructRetAttr() ? 0 : 1;
  if (function.arg_size() < first + 2) return false;
  return function.getArg(first)->getType()->isPointerTy() &&
         function.getArg(function.arg_size() - 1)->getType()->isPointerTy();
}

class OwnerCalls {
 public:
  explicit OwnerCalls(Module& module)
      : pointer_(PointerType::get(module.getContext(), 0)),
        owns_(module.getOrInsertFunction(kOwns, Type::getVoidTy(module.getContext()), pointer_, pointer_)) {}
  void put(Instruction* before, Value* container, Value* what, unsigned how) {
    IRBuilder<> builder(before);
    if (how != 0) what = builder.CreateConstGEP1_32(builder.getInt8Ty(), what, how);
    CallInst* call = builder.CreateCall(owns_, {container, what});
    call->setDoesNotThrow();
    call->setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
    for (unsigned i : {0u, 1u}) call->addParamAttr(i, Attribute::NoCapture);
  }
  void put_node(Function& function) {
    Instruction* first = &*function.getEntryBlock().getFirstInsertionPt();
    IRBuilder<> builder(first);
    Argument* container = function.getArg(function.getArg(0)->hasStructRetAttr() ? 1 : 0);
    put(first, container, builder.CreateLoad(pointer_, function.getArg(function.arg_size() - 1)), 0);
  }

 private:
  Type* pointer_;
  FunctionCallee owns_;
};

}  // namespace

void tell_owned_memory(Module& module) {
  struct Place {
    Function* function;
    OwnershipTransfer hands;
    bool allocates, node;
  };
  std::vector<Place> places;
  for (Function& function : module) {
    Place place{&function, handing_method(function), allocating_container(function) != nullptr,
                takes_a_node(function)};
    if (place.hands.from != nullptr || place.allocates || place.node) places.push_back(place);
  }
  if (places.empty()) return;
  OwnerCalls calls(module);
  for (const Place& place : places) {
    for (BasicBlock& block : *place.function) {
      auto* leaves = dyn_cast<ReturnInst>(block.getTerminator());
      if (leaves == nullptr) continue;
      if (place.allocates) calls.put(leaves, place.function->getArg(0), leaves->getReturnValue(), 0);
      if (place.hands.from != nullptr)
        calls.put(leaves, place.function->getArg(0), place.hands.from, place.hands.how);
    }
    if (place.node) calls.put_node(*place.function);
  }
}

bool tells_owned_memory(const CallBase& call) {
  const auto* callee = dyn_cast_or_null<Function>(call.getCalledOperand());
  return callee != nullptr && callee->getName() == kOwns;
}

}  // namespace cleave
