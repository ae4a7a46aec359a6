// Names of accesses. Part one of the pass finds them while address computations still show struct types and local
// variables still stand in memory; part two asks for them after optimisation, by the metadata that an access has kept,
// else by its place in the source.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Instructions.h>

#include <map>

#include "pass/tables.h"

namespace cleave {

class Names {
 public:
  // Part one: attaches metadata to every access of the module.
  void find(llvm::Module& module);
  // Part two. `write` tells the two accesses of `x++` from those of `x = y`.
  AccessName of(const llvm::Instruction& access, const llvm::Value* pointer, bool write) const;

 private:
  using Position = std::tuple<const void*, unsigned, unsigned, bool>;  // scope, line, column, write
  std::map<Position, const llvm::MDNode*> by_position_;
};

}  // namespace cleave
