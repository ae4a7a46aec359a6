// What a function reaches through pointers that its own object holds: `s_->balance`, `p->value` in a walk
// that begins at `head_`, `table->rows[i].used` of a C function whose first parameter is the table's owner.
// Marathon 4.1 takes that for part of the object; whether it is, is decided where it is seen who else gets
// there (units/units.h).
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>

namespace cleave {

// Of one function, by its unoptimised body alone; intra-procedural.
class ThroughOwn {
 public:
  explicit ThroughOwn(const llvm::Function& function);
  // Whether `address` lies in what a pointer field of the own object points to, or what is pointed to from
  // there, on every way on which the address is computed. O(local variables that lead there).
  bool reaches(const llvm::Value* address);
  // Whether a call is one of a method, or of a function of C, on what is reached so.
  bool called_on(const llvm::CallBase& call);

 private:
  bool from_own(const llvm::Value* pointer);
  bool read_from(const llvm::Value* place);
  bool always_from_own(const llvm::AllocaInst& local);
  bool passes_on(const llvm::CallBase& call);

  bool asks_ = false;  // the function has an object of its own whose fields are no captures of a lambda
  llvm::DenseMap<const llvm::AllocaInst*, bool> locals_;
  // Local variables and phis that are being looked at: a walk `p = p->next` gets to where it began.
  llvm::SmallPtrSet<const llvm::Value*, 8> open_;
  unsigned looked_at_ = 0;  // for one answer; beyond a limit it is no
};

}  // namespace cleave
