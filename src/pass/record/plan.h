// What will be recorded of a function: its segments and hooks, in program order, before a single instruction
// is inserted. The tables and the bitcode that the binary carries are made from the plan and from the code as
// it is then; emit.h turns the plan into code.
//
// Recorded conditional branches are exactly those `br` with two different successors and a condition that is
// not a constant; a walk through the bitcode takes one outcome for each.
#pragma once

#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Instructions.h>

#include <vector>

#include "pass/mark/privacy.h"
#include "pass/name/names.h"
#include "pass/name/tables.h"
#include "pass/record/pieces.h"
#include "pass/record/ranges.h"

namespace cleave {

// A payload word: a piece of `value`, written before `anchor`. What is known only after an instruction is
// written before the next one; insertion in the order of the plan then keeps everything in its order.
struct PlannedWord {
  llvm::Instruction* anchor;
  llvm::Value* value;
  Piece piece;
};

// A leg of a segment but its first (abi/record.h).
struct PlannedLeg {
  llvm::Instruction* first;  // its access
  uint16_t slots, words;     // of the segment, before it
};

struct PlannedSegment {
  uint32_t index;            // in the module's tables; those of its legs follow if there are several
  llvm::Instruction* first;  // reserved before this
  std::vector<PlannedWord> words;
  std::vector<PlannedLeg> legs;
};

struct Action {
  // Atomic and Fence stand around their instruction, the others before theirs: AfterCall where control is
  // back from a call, Leave before a return.
  enum Kind { Segment, Atomic, Fence, RangePoint, RangeHook, AfterCall, Branch, Leave } kind;
  llvm::Instruction* at = nullptr;
  PlannedSegment segment;           // Segment: all of it; hooks: its index
  std::optional<Range> range = {};  // RangeHook
  bool may_fill = true;             // Branch: its outcome may be the fifteenth (outcomes.h)
};

struct FunctionPlan {
  llvm::Function* function = nullptr;
  std::vector<Action> actions;        // in program order within each block
  llvm::AllocaInst* frame = nullptr;  // its address is the frame token, if the function can be landed in
};

class Planner {
 public:
  Planner(llvm::Function& function, llvm::ScalarEvolution& evolution, TableBuilder& tables,
          const Names& names);
  FunctionPlan plan();

 private:
  void plan_block(llvm::BasicBlock& block);
  void plan_instruction(llvm::Instruction& instruction);
  void plan_access(llvm::Instruction& access, llvm::Value* pointer, llvm::Value* value, bool write);
  void plan_call(llvm::CallBase& call);
  void plan_mark(llvm::CallBase& call);
  void plan_result(llvm::CallBase& call, llvm::Instruction& anchor);
  void plan_returned(llvm::CallBase& call, llvm::Instruction& anchor);
  void plan_terminator(llvm::Instruction& terminator);
  void plan_hook(Action::Kind kind, llvm::Instruction& at, unsigned width, const AccessName& name = {});
  // Whether the range may be shared, and has a hook.
  bool plan_range(llvm::Instruction& at, llvm::Instruction& anchor, const Range& range);
  bool plan_range_call(llvm::CallBase& call);
  void plan_by_value(llvm::CallBase& call);
  void plan_local_ends(llvm::Instruction& leave);
  void plan_landing(llvm::Instruction& at, llvm::Instruction& anchor);

  // `at` gives the site, `anchor` the place.
  Slot& add_slot(SlotKind kind, llvm::Instruction& at, llvm::Instruction& anchor,
                 const AccessName& name = {});
  Slot& add_slot(SlotKind kind, llvm::Instruction& at) { return add_slot(kind, at, at); }
  Operand word(llvm::Instruction& anchor, llvm::Value* value, const Piece& piece);
  Operand address_of(llvm::Instruction& access, llvm::Value* pointer);
  Operand value_of(llvm::Instruction& access, llvm::Value* value, const Piece& piece, bool write);
  Operand address_word(llvm::Instruction& access, llvm::Value* pointer);
  void open(llvm::Instruction& first);
  void close();
  void begin_leg(llvm::Instruction& first);
  bool leave_out(llvm::Instruction& access, llvm::Value* pointer);
  bool needs_frame() const;

  llvm::Function& function_;
  const llvm::DataLayout& layout_;
  llvm::ScalarEvolution& evolution_;
  TableBuilder& tables_;
  const Names& names_;
  Privacy privacy_;
  FunctionPlan plan_;
  bool has_frame_ = false;  // gets Enter and Exit
  llvm::SmallVector<llvm::AllocaInst*, 4> published_;

  bool open_ = false;
  PlannedSegment segment_;
  SegmentTable table_;
  bool leg_has_access_ = false;
  struct KnownAddress {
    llvm::Value* base;
    int64_t offset;
    uint32_t slot;
    const llvm::SCEV* expression;
  };
  std::vector<KnownAddress> known_;  // of the segment
};

}  // namespace cleave
