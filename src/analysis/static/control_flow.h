// Questions about the control flow of one function that several analyses ask: reachability that avoids an
// instruction, cycles, loops, and which branches decide whether a block runs.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace cleave::static_analysis {

class ControlFlow {
 public:
  explicit ControlFlow(const llvm::Function& function);

  // Whether execution may get from behind `from` to `to` without any of `avoiding` (null ones do not count)
  // in between, and without another round of `loop` or a loop around it (may be null). An instruction reaches
  // itself only by another round. Answers are kept by block, so that asking for all instructions of a block
  // costs one search.
  bool reaches(const llvm::Instruction* from, const llvm::Instruction* to,
               llvm::ArrayRef<const llvm::Instruction*> avoiding = {},
               const llvm::Loop* loop = nullptr) const;
  // Whether each execution that gets to `a` gets to `b` before it returns or comes to `a` again.
  bool always_followed(const llvm::Instruction* a, const llvm::Instruction* b) const;
  // Whether there is a way from behind `from` to `to` without any of `avoiding`, on which branches on
  // variables that were given constants on the way go as the constants say. True where the search is too
  // large to tell.
  bool way_around(const llvm::Instruction* from, const llvm::Instruction* to,
                  const std::vector<const llvm::Instruction*>& avoiding) const;
  bool in_cycle(const llvm::BasicBlock* block) const { return loops_->getLoopFor(block) != nullptr; }
  const llvm::Loop* loop_of(const llvm::Instruction* at) const { return loops_->getLoopFor(at->getParent()); }
  // The innermost loop that contains both; null if there is none.
  const llvm::Loop* common_loop(const llvm::Instruction* a, const llvm::Instruction* b) const;
  bool dominates(const llvm::Instruction* a, const llvm::Instruction* b) const {
    return dominators_->dominates(a, b);
  }
  // Blocks whose execution the end of `block` decides directly. Exceptions and calls that do not return are
  // not decisions.
  const std::vector<const llvm::BasicBlock*>& decided_by(const llvm::BasicBlock* block) const;
  // Where the ways that part at the end of the block have met again: the first instruction of the block that
  // follows in any case; null if none does.
  const llvm::Instruction* rejoin(const llvm::BasicBlock* block) const { return rejoins_.lookup(block); }
  // Ways on from a block that an ordinary execution takes.
  std::vector<const llvm::BasicBlock*> ways(const llvm::BasicBlock* block) const;

 private:
  void find_dead_ends(const llvm::Function& function);
  void find_decisions(const llvm::Function& function);

  std::unique_ptr<llvm::DominatorTree> dominators_;
  std::unique_ptr<llvm::LoopInfo> loops_;
  llvm::DenseSet<const llvm::BasicBlock*> dead_ends_;  // lead to no return: throw, abort, exit
  llvm::DenseMap<const llvm::BasicBlock*, std::vector<const llvm::BasicBlock*>> decided_;
  llvm::DenseMap<const llvm::BasicBlock*, const llvm::Instruction*> rejoins_;
  std::vector<const llvm::BasicBlock*> none_;
  using Question = std::tuple<const llvm::Instruction*, const llvm::BasicBlock*,
                              std::vector<const llvm::Instruction*>, const llvm::Loop*>;
  bool search(const llvm::Instruction* from, const llvm::Instruction* to,
              llvm::ArrayRef<const llvm::Instruction*> avoiding, const llvm::Loop* loop) const;
  mutable std::map<Question, bool> answers_;
};

// One per function, made when first asked for.
class ControlFlows {
 public:
  const ControlFlow& of(const llvm::Function& function) {
    std::unique_ptr<ControlFlow>& flow = flows_[&function];
    if (!flow) flow = std::make_unique<ControlFlow>(function);
    return *flow;
  }

 private:
  std::map<const llvm::Function*, std::unique_ptr<ControlFlow>> flows_;
};

}  // namespace cleave::static_analysis
