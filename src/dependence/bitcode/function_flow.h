// The table of one function. Sees LLVM.
#pragma once

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

#include <functional>
#include <vector>

#include "dependence/flow.h"

namespace cleave::dependence {

// Origins are numbered for the time of the analysis: parameters first, then elements. A local variable whose
// address is taken is a cell: one set for all of it and for the whole function.
//
// Only normal edges count: with unwind edges every call that may throw would decide all that follows it. The
// caller has replaced invokes by calls (extract.cpp).
class FunctionAnalysis {
 public:
  // `defined`: whether a function of that linkage name is recorded when it is called.
  FunctionAnalysis(llvm::Function& function, const std::function<bool(llvm::StringRef)>& defined);
  FunctionFlow run();

 private:
  using Set = llvm::BitVector;

  void number_elements();
  void note_element(llvm::Instruction& instruction, ElementKind kind);
  void find_control();
  void close_control();
  bool step(llvm::Instruction& instruction);
  Set of(const llvm::Value* value, const llvm::Instruction* user) const;
  Set of_operands(const llvm::Instruction& instruction) const;
  Set of_phi(const llvm::PHINode& phi) const;
  Set of_load(const llvm::LoadInst& load) const;
  bool step_call(llvm::CallBase& call);
  bool step_store(llvm::StoreInst& store);
  bool step_transfer(llvm::CallBase& call);
  Set deciding(const llvm::BasicBlock* from, const llvm::BasicBlock* to) const;
  bool into_cell(const llvm::Value* pointer, const Set& what);
  Set in_cell(const llvm::Value* pointer) const;
  bool set_value(const llvm::Value& value, const Set& set);
  uint32_t element_of(const llvm::Instruction& instruction) const;
  Set single(uint32_t element) const;
  Origins origins(const Set& set) const;
  void fill_tables();
  void fill_element(const llvm::Instruction& instruction, Element& element);
  static bool is_conditional(const llvm::Instruction& terminator);

  llvm::Function& function_;
  const std::function<bool(llvm::StringRef)>& defined_;
  llvm::DominatorTree dominators_;
  llvm::PostDominatorTree after_;
  llvm::LoopInfo loops_;
  FunctionFlow flow_;
  unsigned size_ = 0;  // of a set
  llvm::DenseMap<const llvm::Instruction*, uint32_t> elements_;
  std::vector<llvm::Instruction*> instructions_;  // by element
  llvm::DenseMap<const llvm::Value*, Set> values_;
  llvm::DenseMap<const llvm::Value*, Set> cells_;  // by alloca
  llvm::DenseMap<const llvm::BasicBlock*, uint32_t> branches_;
  std::vector<const llvm::BasicBlock*> branch_blocks_;
  llvm::DenseMap<const llvm::BasicBlock*, std::vector<uint32_t>> direct_;  // branches that decide the block
  llvm::DenseMap<const llvm::BasicBlock*, std::vector<uint32_t>> all_;     // and those that decide these
  llvm::DenseMap<const llvm::Loop*, uint32_t> loop_numbers_;
};

}  // namespace cleave::dependence
