// Which memory cannot be shared between threads, so that its accesses need no record.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Instructions.h>

namespace cleave {

// Answers for one function. A local variable is private when its address is used for nothing but accesses of
// this function. Being passed to a call makes it public even where the callee keeps no copy: the callee
// records what it does there, and a trace with one half of a variable's accesses would not make sense.
class Privacy {
 public:
  // True if the memory behind the pointer is a private local variable, or a by-value parameter that is
  // private.
  bool is_private(const llvm::Value* pointer);

 private:
  bool escapes(const llvm::Value* root);
  llvm::DenseMap<const llvm::Value*, bool> private_;
};

// Local variables that another thread may come to know of: their address is stored where others can see it,
// or passed to a function that this module does not define and that may keep it. Fewer than those that are
// not private: what a function of this module does with an address shows there. O(uses).
llvm::SmallVector<llvm::AllocaInst*, 4> published_locals(llvm::Function& function);

// Memory that nobody writes while the program runs, and the table pointer of an object with virtual
// functions.
bool is_constant_memory(const llvm::Value* pointer);
bool is_vtable_access(const llvm::Instruction& access);

}  // namespace cleave
