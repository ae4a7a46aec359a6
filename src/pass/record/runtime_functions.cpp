#include "pass/record/runtime_functions.h"

#include <cstddef>

#include "abi/record.h"

namespace cleave {

using namespace llvm;

RuntimeFunctions::RuntimeFunctions(Module& module) {
  LLVMContext& context = module.getContext();
  Type* none = Type::getVoidTy(context);
  Type* pointer = PointerType::get(context, 0);
  Type* half = Type::getInt32Ty(context);
  Type* word = Type::getInt64Ty(context);
  AttributeList plain = AttributeList().addFnAttribute(context, Attribute::NoUnwind);
  AttributeList cold =
      plain.addFnAttribute(context, Attribute::Cold).addFnAttribute(context, Attribute::NonLazyBind);

  reserve = module.getOrInsertFunction("__cleave_reserve", cold, pointer, word, pointer);
  leg = module.getOrInsertFunction("__cleave_leg", cold, pointer, pointer, pointer);
  branches_full = module.getOrInsertFunction("__cleave_branches_full", cold, none);
  for (FunctionCallee callee : {reserve, leg, branches_full}) {
    if (auto* function = dyn_cast<Function>(callee.getCallee()))
      function->setCallingConv(CallingConv::PreserveMost);
  }
  atomic_begin = module.getOrInsertFunction("__cleave_atomic_begin", plain, word, pointer, pointer);
  atomic_end = module.getOrInsertFunction("__cleave_atomic_end", plain, none, pointer, pointer, word, half,
                                          half, half, word, word, word, word);
  fence = module.getOrInsertFunction("__cleave_fence", plain, none, pointer, half);
  range_point = module.getOrInsertFunction("__cleave_range_point", plain, none, pointer);
  range_read = module.getOrInsertFunction("__cleave_range_read", plain, none, pointer, pointer, word);
  range_write = module.getOrInsertFunction("__cleave_range_write", plain, none, pointer, pointer, word);
  local_end = module.getOrInsertFunction("__cleave_local_end", plain, none, pointer, pointer, word);
  register_module = module.getOrInsertFunction("__cleave_register", plain, none, pointer);
  unregister_module = module.getOrInsertFunction("__cleave_unregister", plain, none, pointer);

  auto* block = module.getNamedGlobal("__cleave_thread");
  if (block == nullptr) {
    block = new GlobalVariable(module, ArrayType::get(word, 3), false, GlobalValue::ExternalLinkage, nullptr,
                               "__cleave_thread", nullptr, GlobalValue::InitialExecTLSModel);
    block->setAlignment(Align(8));
  }
  auto field = [&](size_t offset) {
    return ConstantExpr::getInBoundsGetElementPtr(Type::getInt8Ty(context), block,
                                                  ConstantInt::get(word, offset));
  };
  cursor = field(offsetof(cleave_thread_block, cursor));
  limit = field(offsetof(cleave_thread_block, limit));
  branches = field(offsetof(cleave_thread_block, branches));
}

}  // namespace cleave
