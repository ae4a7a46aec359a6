// Declarations of abi/hooks.h in a module.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace cleave {

struct RuntimeFunctions {
  explicit RuntimeFunctions(llvm::Module& module);

  llvm::FunctionCallee reserve, leg, branches_full;
  llvm::FunctionCallee atomic_begin, atomic_end, fence;
  llvm::FunctionCallee range_point, range_read, range_write, local_end;
  llvm::FunctionCallee register_module, unregister_module;

  // Addresses of the fields of __cleave_thread.
  llvm::Constant *cursor, *limit, *branches;
};

}  // namespace cleave
