// How much a call of a function can do to shared memory: nothing, one access, or more.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Module.h>

namespace cleave {

// The memory is a local variable of this function.
bool is_local(const llvm::Value* pointer);
bool has_loop(const llvm::Function& function);

class Weights {
 public:
  explicit Weights(const llvm::Module&) {}
  // 0, 1, or 2 for anything more. Unoptimised code: what is in a local variable does not count.
  unsigned of(const llvm::Function& function);
  // A call of it writes nothing that others see, and synchronizes with nobody.
  bool only_reads(const llvm::Function& function);

 private:
  unsigned measure(const llvm::Function& function);
  unsigned of_instruction(const llvm::Instruction& instruction);
  bool only_reads(const llvm::Instruction& instruction);
  llvm::DenseMap<const llvm::Function*, unsigned> known_;
  llvm::DenseMap<const llvm::Function*, bool> readers_;
};

}  // namespace cleave
