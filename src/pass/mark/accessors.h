// Which functions are plain getters or setters, though they lock: they read or write one field and do nothing
// else but take and give back a lock for it, as `synchronized` getters do in the paper. (One that does not
// even lock is no unit at all, see units.h.) And which methods are steps over another object, as those of an
// iterator are: besides fields of their own they touch one place of what a pointer or reference of theirs
// points to, and take no lock of their own for it.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>

#include <map>

namespace cleave {

// Advance: a step that changes the own field by which it found the place, so that the next step finds another
// one.
enum class Accessor { None, Getter, Setter, Step, Advance };

// By the unoptimised body alone; intra-procedural. O(instructions).
Accessor accessor_kind(const llvm::Function& function);
// May a call of it be one of an accessor, which this module may not even see?
bool may_access(const llvm::CallBase& call);
// Whether a value is the first parameter (`this`, or the struct of a C function), as unoptimised code reads
// it from its local variable.
bool is_own_object(const llvm::Value* value);
// Takes or gives back a lock, and touches nothing of the user's.
bool only_locks(const llvm::CallBase& call);

// Which calls take a lock, themselves or in what they call, as far as the module shows it. Each function is
// looked at once.
class Lockers {
 public:
  bool locks(const llvm::CallBase& call);

 private:
  bool locks(const llvm::Function& function);
  std::map<const llvm::Function*, bool> known_;
};

}  // namespace cleave
