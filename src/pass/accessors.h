// Which functions are plain getters or setters, though they lock: they read or write one field and do nothing else but
// take and give back a lock for it, as `synchronized` getters do in the paper. (One that does not even lock is no unit at
// all, see units.h.) And which methods are steps over another object, as those of an iterator are: besides fields of their
// own they touch one place of what a pointer or reference of theirs points to.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>

namespace cleave {

// Advance: a step that changes the own field by which it found the place, so that the next step finds another one.
enum class Accessor { None, Getter, Setter, Step, Advance };

// By the unoptimised body alone; intra-procedural. O(instructions).
Accessor accessor_kind(const llvm::Function& function);
// May a call of it be one of an accessor, which this module may not even see?
bool may_access(const llvm::CallBase& call);

}  // namespace cleave
