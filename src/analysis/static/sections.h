// The atomic sections of the program (the paper's atomic methods): from where a lock is taken to where it is
// given back, annotated units that use no lock of their own, and single atomic operations. For every
// instruction, which of them it is certainly inside of, the outermost first.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/static/control_flow.h"
#include "analysis/static/points_to.h"
#include "analysis/static/processes.h"
#include "analysis/static/whole_program.h"

namespace cleave::static_analysis {

using SectionId = uint32_t;

struct Section {
  const llvm::Instruction* begin = nullptr;  // the call that takes the lock, or the mark
  std::vector<const llvm::Instruction*>
      begins;                  // all copies of it that the optimizer has made, `begin` first
  std::vector<Location> lock;  // which lock it may be; empty: not known, or an annotation
  bool shared = false;         // the reader side of a reader-writer lock
  bool annotated = false;      // a unit that the program marks, not a lock
  bool claim = false;          // annotated, but takes locks inside: a wish, not a guarantee
  std::string unit;            // annotated: its name
  std::vector<const llvm::Instruction*> ends;
  Frame owner;  // the innermost function of the program that both begins and ends it
};

class Sections {
 public:
  Sections(const WholeProgram& whole, const PointsTo& points_to, const Processes& processes);

  const std::vector<Section>& all() const { return sections_; }
  const Section& operator[](SectionId id) const { return sections_[id]; }
  // Sections that certainly surround the instruction, the outermost first; claims included.
  const std::vector<SectionId>& around(const llvm::Instruction* at) const;
  // The same without claims: what really excludes others.
  std::vector<SectionId> holding(const llvm::Instruction* at) const;
  // The annotated unit that surrounds both, and the frame of it; kNoSection if none does.
  bool common_unit(const llvm::Instruction* a, const llvm::Instruction* b, SectionId* unit) const;
  bool has_annotations() const { return has_annotations_; }
  // Whether both may be the same lock, held so that the two exclude each other.
  bool exclude(SectionId a, SectionId b) const;

 private:
  using State = std::vector<SectionId>;
  struct Summary {
    State acquired;                                  // held at every return, not at entry
    std::vector<const llvm::Instruction*> released;  // without having been acquired
  };
  std::vector<Location> lock_of(const llvm::CallBase& call, int operand) const;
  SectionId section_at(const llvm::Instruction* at);
  void step(const llvm::Instruction& at, State& state, Summary* summary, bool record);
  void release(const llvm::Instruction& at, const std::vector<Location>& lock, const llvm::Value* pointer,
               State& state, Summary* summary);
  void marks(const llvm::CallBase& call, bool begin, State& state);
  State on_way(const llvm::BasicBlock& from, const llvm::BasicBlock& to, const State& state);
  void analyze(const llvm::Function& function, const State& entry, Summary* summary, bool record);
  void spread(const llvm::Module& module);
  void find_claims();
  void name_owners();
  uint32_t intern(const State& state);

  const WholeProgram& whole_;
  const PointsTo& points_to_;
  const Processes& processes_;
  std::vector<Section> sections_;
  using Origin = std::tuple<const void*, const llvm::Value*, std::vector<Location>>;  // place, callee, lock
  std::map<const llvm::Instruction*, SectionId> ids_;
  std::map<Origin, SectionId> origins_;
  std::map<const llvm::Function*, Summary> summaries_;
  std::map<const llvm::Function*, State> entries_;  // sections around every call of the function
  std::vector<const llvm::Function*> changed_;      // entries that a call has changed
  std::vector<State> states_;
  std::map<State, uint32_t> state_ids_;
  llvm::DenseMap<const llvm::Instruction*, uint32_t> at_;
  std::set<SectionId> disturbed_;  // annotated, with a lock taken inside
  bool has_annotations_ = false;
};

}  // namespace cleave::static_analysis
