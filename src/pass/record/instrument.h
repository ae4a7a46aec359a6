// The pass, in the two parts that LLVM's pipeline needs: marks and names before optimisation, records after
// it.
#pragma once

#include <llvm/IR/PassManager.h>

#include <memory>

#include "pass/name/names.h"

namespace cleave {

// What part one hands to part two beside the metadata in the module.
struct PassState {
  Names names;
};

class MarkPass : public llvm::PassInfoMixin<MarkPass> {
 public:
  explicit MarkPass(std::shared_ptr<PassState> state) : state_(std::move(state)) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }

 private:
  std::shared_ptr<PassState> state_;
};

// Between the two, before loops are unrolled and vectorised: units that the optimiser has emptied go.
class EmptyUnitPass : public llvm::PassInfoMixin<EmptyUnitPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

class RecordPass : public llvm::PassInfoMixin<RecordPass> {
 public:
  explicit RecordPass(std::shared_ptr<PassState> state) : state_(std::move(state)) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }

 private:
  std::shared_ptr<PassState> state_;
};

}  // namespace cleave
