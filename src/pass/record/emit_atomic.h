// Hooks around an atomic operation, which itself stays as it is.
#pragma once

#include <llvm/IR/Instructions.h>

#include "pass/record/runtime_functions.h"

namespace cleave {

// Gives back the last instruction it inserted.
llvm::Instruction* emit_atomic(llvm::Instruction& operation, llvm::Value* segment,
                               const RuntimeFunctions& runtime);

}  // namespace cleave
