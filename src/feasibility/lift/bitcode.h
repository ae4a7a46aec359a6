// The bitcode of a program's modules, loaded when first needed.
#pragma once

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <map>
#include <memory>
#include <string>

#include "program/program.h"

namespace cleave {

class Bitcode {
 public:
  explicit Bitcode(Program program) : program_(std::move(program)) {}

  // The function of that name in the module with that identity; null if there is none with a body.
  llvm::Function* function(uint64_t identity, const std::string& linkage);
  // The definition of an external function, looked for first in `preferred`, then in every module.
  llvm::Function* definition(const std::string& linkage, uint64_t preferred);
  uint64_t identity_of(const llvm::Module* module) const { return identities_.at(module); }

 private:
  llvm::Module* module(const ProgramModule& from);
  Program program_;
  llvm::LLVMContext context_;
  std::map<uint64_t, std::unique_ptr<llvm::Module>> modules_;
  std::map<const llvm::Module*, uint64_t> identities_;
};

}  // namespace cleave
