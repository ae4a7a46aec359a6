// Memory that a container of the standard library has on the heap is part of the container: elements, nodes,
// buckets.
#pragma once

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

namespace cleave {

// Before anything is inlined: where a method of a container returns memory it has just allocated for itself,
// or has taken over what another one held, a call of __cleave_owns (abi/hooks.h) says so. The names are
// libstdc++'s.
void tell_owned_memory(llvm::Module& module);

// Such a call: it keeps neither pointer.
bool tells_owned_memory(const llvm::CallBase& call);

}  // namespace cleave
