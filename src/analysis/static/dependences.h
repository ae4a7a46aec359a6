// Causal dependencies (MoTH 4): where a value that was read goes. Data dependencies follow figure 4, control
// dependencies figure 5; the versions of local variables are the values of LLVM's SSA form, those of private
// memory the stores that may reach a load. A dependency ends where the value enters shared memory: what
// others read there is theirs.
//
// src/dependence has tables of the same relation for functions as they were compiled; here it is followed
// through expanded code, instruction by instruction, because each step is asked which locks are held on the
// way.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Instructions.h>

#include <map>
#include <vector>

#include "analysis/static/accesses.h"
#include "analysis/static/control_flow.h"
#include "analysis/static/points_to.h"
#include "analysis/static/processes.h"
#include "analysis/static/sections.h"

namespace cleave::static_analysis {

// How a value gets from one instruction to the next.
enum class StepKind : uint8_t {
  Source,    // the read itself
  Value,     // an operand of a computation (ASSIGN, HEAP READ of figure 4)
  Memory,    // through a private variable in memory
  Argument,  // of a call that was not expanded (METH CALL)
  Result,    // of such a call (RETURN)
  Decides,   // a branch on it decides whether the instruction runs, or which value a variable gets (figure 5)
};

// An instruction that depends on the read.
struct Reached {
  const llvm::Instruction* at = nullptr;
  uint32_t from = 0;  // index of the step before
  StepKind kind = StepKind::Source;
  bool decided = false;     // some step on the way is Decides
  bool copy = true;         // the value itself, not computed with
  bool as_address = false;  // a memory access at an address that depends on it
  uint32_t held = 0;        // bit i: section i around the read has not been left on the way
};

struct Dependences {
  std::vector<SectionId> around;  // sections around the read, the outermost first; claims included
  std::vector<Reached> reached;  // [0] is the read; each instruction once, or again where fewer sections last
};

class DependenceFinder {
 public:
  DependenceFinder(const Accesses& accesses, const PointsTo& points_to, const Processes& processes,
                   const Sections& sections, ControlFlows& flows, const llvm::Module& module);

  // All that depends on what `read` returned. Cached.
  const Dependences& of(const llvm::Instruction* read);
  // Definition 2: something that neither read is depends on both; null if there is none.
  const llvm::Instruction* common(const llvm::Instruction* a, const llvm::Instruction* b);
  bool cut() const { return cut_; }

 private:
  struct Search;
  void index(const llvm::Module& module);
  void follow(Search& search, uint32_t from);
  void follow_use(Search& search, uint32_t from, const llvm::Instruction& user, const llvm::Use& use);
  void follow_store(Search& search, uint32_t from, const llvm::Instruction& store,
                    const llvm::Value* pointer);
  void follow_call(Search& search, uint32_t from, const llvm::CallBase& call, const llvm::Use& use);
  void follow_branch(Search& search, uint32_t from, const llvm::Instruction& branch);
  void decide(Search& search, uint32_t from, const llvm::Instruction& branch, const llvm::BasicBlock& block);
  void push(Search& search, uint32_t from, const llvm::Instruction& to, StepKind kind, bool copy,
            bool as_address, const llvm::Instruction* branch = nullptr,
            const llvm::Instruction* edge = nullptr);
  bool lasts(const Section& section, const llvm::Instruction& from, const llvm::Instruction& to,
             llvm::ArrayRef<const llvm::Instruction*> limits) const;
  uint32_t still_held(const Search& search, uint32_t before, const llvm::Instruction& from,
                      const llvm::Instruction& to, const llvm::Instruction* meet) const;
  bool polls(const Search& search, const llvm::Instruction& branch, const llvm::Instruction& to) const;
  bool fixed_address(const llvm::Instruction& read) const;

  const Accesses& accesses_;
  const PointsTo& points_to_;
  const Processes& processes_;
  const Sections& sections_;
  ControlFlows& flows_;
  std::map<Location, std::vector<const llvm::Instruction*>> loads_;  // of private memory
  std::map<const llvm::Instruction*, Dependences> known_;
  bool cut_ = false;
  size_t steps_ = 0;
};

}  // namespace cleave::static_analysis
