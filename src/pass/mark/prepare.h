// Brings a function into the shape that planning expects, without changing what it does.
#pragma once

#include <llvm/IR/Function.h>

#include "pass/name/names.h"

namespace cleave {

// Local variables of fixed size stand at the start of the entry block, so that splitting it leaves them
// there; the normal successor of an invoke has no other predecessor; small copies and fills of known size are
// loads and stores.
void prepare(llvm::Function& function, const Names& names);

}  // namespace cleave
