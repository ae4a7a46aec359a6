// Which functions are plain getters or setters, though they lock: they read or write one field and do nothing else but
// take and give back a lock for it, as `synchronized` getters do in the paper. (One that does not even lock is no unit at
// all, see units.h.)
#pragma once

#include <llvm/IR/Function.h>

namespace cleave {

enum class Accessor { None, Getter, Setter };

// By the unoptimised body alone; intra-procedural. O(instructions).
Accessor accessor_kind(const llvm::Function& function);

}  // namespace cleave
