#include "pass/record/emit.h"

#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "abi/hooks.h"
#include "pass/mark/marks.h"
#include "pass/record/emit_atomic.h"
#include "pass/record/runtime_functions.h"

namespace cleave {

using namespace llvm;

namespace {

class Emitter {
 public:
  Emitter(FunctionPlan& plan, GlobalVariable& segments)
      : plan_(plan),
        segments_(segments),
        runtime_(*plan.function->getParent()),
        layout_(plan.function->getParent()->getDataLayout()),
        unlikely_(MDBuilder(plan.function->getContext()).createBranchWeights(1, 1 << 20)) {}

  void run() {
    if (plan_.actions.empty()) return;
    Instruction& first = *plan_.function->getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
    IRBuilder<> entry(&*plan_.function->getEntryBlock().begin());
    outcomes_ = entry.CreateAlloca(entry.getInt64Ty(), nullptr, "cleave.outcomes");
    IRBuilder<> builder(&first);
    take_outcomes(builder);
    for (Action& action : plan_.actions) emit(action);
    for (auto [value, either] : joined_)
      if (either->use_empty()) either->eraseFromParent();
    remove_metadata();
    DominatorTree tree(*plan_.function);
    PromoteMemToReg({outcomes_}, tree);
  }

 private:
  void emit(Action& action) {
    IRBuilder<> builder(action.at);
    builder.SetCurrentDebugLocation(action.at->getDebugLoc());
    switch (action.kind) {
      case Action::Segment:
        return emit_segment(action.segment);
      case Action::Branch:
        return emit_branch(*cast<BranchInst>(action.at), action.may_fill);
      case Action::AfterCall:
        return take_outcomes(builder);
      case Action::Leave:
        return give_outcomes(builder);
      case Action::Fence:
        give_outcomes(builder);
        builder.CreateCall(
            runtime_.fence,
            {segment_pointer(builder, action.segment.index),
             builder.getInt32(static_cast<uint32_t>(toCABI(cast<FenceInst>(action.at)->getOrdering())))});
        return take_outcomes(builder);
      case Action::Atomic:
        give_outcomes(builder);
        builder.SetInsertPoint(
            emit_atomic(*action.at, segment_pointer(builder, action.segment.index), runtime_)->getNextNode());
        return take_outcomes(builder);
      case Action::RangePoint:
        give_outcomes(builder);
        builder.CreateCall(runtime_.range_point, {segment_pointer(builder, action.segment.index)});
        return take_outcomes(builder);
      case Action::RangeHook:
        return emit_range(action);
    }
  }

  // Running free, a segment is written in one go. If it has legs, there is a second copy of its code for a
  // scheduler that wants to come between its accesses; the way there is the cold one.
  void emit_segment(const PlannedSegment& segment) {
    const uint64_t words = 1 + segment.words.size();
    const bool legs = !segment.legs.empty();
    BasicBlock* head = segment.first->getParent();
    BasicBlock* fast = head->splitBasicBlock(segment.first);
    BasicBlock* rest = legs ? fast->splitBasicBlock(end_of(segment)) : nullptr;
    ValueToValueMapTy copied;
    BasicBlock* stepwise = legs ? copy_of(*fast, copied) : nullptr;

    head->getTerminator()->eraseFromParent();
    IRBuilder<> builder(head);
    builder.SetCurrentDebugLocation(segment.first->getDebugLoc());
    Value* cursor = builder.CreateLoad(builder.getPtrTy(), runtime_.cursor);
    Value* end = builder.CreateConstInBoundsGEP1_64(builder.getInt64Ty(), cursor, words);
    Value* limit = builder.CreateLoad(builder.getPtrTy(), runtime_.limit);
    BasicBlock* cold = BasicBlock::Create(head->getContext(), "cleave.cold", plan_.function, fast);
    builder.CreateCondBr(builder.CreateICmpUGT(end, limit), cold, fast, unlikely_);
    builder.SetInsertPoint(cold);
    give_outcomes(builder);
    CallInst* fresh = builder.CreateCall(runtime_.reserve,
                                         {builder.getInt64(words), segment_pointer(builder, segment.index)});
    fresh->setCallingConv(CallingConv::PreserveMost);
    take_outcomes(builder);
    if (legs) {
      limit = builder.CreateLoad(builder.getPtrTy(), runtime_.limit);
      builder.CreateCondBr(builder.CreateICmpULE(limit, fresh), stepwise, fast);
    } else {
      builder.CreateBr(fast);
    }

    PHINode* record = PHINode::Create(builder.getPtrTy(), 2, "cleave.record", fast->begin());
    record->addIncoming(cursor, head);
    record->addIncoming(fresh, cold);
    emit_record(segment, record, rest, nullptr);
    if (!legs) return;
    emit_record(segment, fresh, rest, &copied);
    join(*fast, *stepwise, *rest, copied);
  }

  // The instruction before which all of a segment has happened.
  static Instruction* end_of(const PlannedSegment& segment) {
    Instruction* end = segment.legs.back().first->getNextNode();
    for (const PlannedWord& word : segment.words)
      if (end->comesBefore(word.anchor)) end = word.anchor;
    return end;
  }

  BasicBlock* copy_of(BasicBlock& block, ValueToValueMapTy& copied) {
    BasicBlock* copy = CloneBasicBlock(&block, copied, ".stepwise", plan_.function);
    remapInstructionsInBlocks({copy}, copied);
    return copy;
  }

  // What the code behind uses of either copy.
  void join(BasicBlock& fast, BasicBlock& stepwise, BasicBlock& rest, ValueToValueMapTy& copied) {
    for (Instruction& instruction : fast) {
      auto copy = copied.find(&instruction);
      if (copy == copied.end() || instruction.getType()->isVoidTy()) continue;
      PHINode* either = PHINode::Create(instruction.getType(), 2, "", rest.begin());
      instruction.replaceUsesOutsideBlock(either, &fast);
      either->addIncoming(&instruction, &fast);
      either->addIncoming(copy->second, &stepwise);
      joined_[&instruction] = either;
    }
  }

  // A value of the plan, as the code that is being emitted now has it.
  Value* now(Value* value) const {
    auto it = joined_.find(value);
    return it == joined_.end() ? value : it->second;
  }

  // Into one copy of the segment's code: the record as a whole, or (`copied`) with a call before every leg
  // but the first. What stands before `rest` is behind the copy's last instruction.
  void emit_record(const PlannedSegment& segment, Value* record, BasicBlock* rest,
                   ValueToValueMapTy* copied) {
    auto here = [&](Value* value) -> Value* {
      if (copied == nullptr) return now(value);
      auto it = copied->find(value);
      return it == copied->end() ? now(value) : static_cast<Value*>(it->second);
    };
    Instruction* first = cast<Instruction>(here(segment.first));
    auto place = [&](Instruction* anchor) {
      return anchor->getParent() == rest && rest != nullptr ? first->getParent()->getTerminator()
                                                            : cast<Instruction>(here(anchor));
    };
    IRBuilder<> builder(first);
    builder.SetCurrentDebugLocation(first->getDebugLoc());
    Type* word = builder.getInt64Ty();
    builder.CreateStore(builder.CreateConstInBoundsGEP1_64(word, record, 1 + segment.words.size()),
                        runtime_.cursor);
    Value* outcomes = builder.CreateShl(builder.CreateLoad(word, outcomes_), CLEAVE_HEADER_ADDRESS_BITS);
    Value* descriptor = segment_pointer(builder, segment.index);
    builder.CreateStore(builder.CreateOr(outcomes, builder.CreatePtrToInt(descriptor, word)), record);
    builder.CreateStore(builder.getInt64(CLEAVE_BRANCHES_NONE), outcomes_);
    size_t leg = 0;
    for (size_t i = 0; i < segment.words.size(); ++i) {
      for (; copied != nullptr && leg < segment.legs.size() && segment.legs[leg].words <= i; ++leg)
        record = emit_leg(segment, leg, record, *place(segment.legs[leg].first));
      const PlannedWord& planned = segment.words[i];
      builder.SetInsertPoint(place(planned.anchor));
      builder.SetCurrentDebugLocation(planned.anchor->getDebugLoc());
      Value* value = piece_value(builder, here(planned.value), planned.piece, layout_);
      builder.CreateStore(value, builder.CreateConstInBoundsGEP1_64(word, record, i + 1));
    }
  }

  // Before a leg but the first. All outcomes are in the segment's header.
  Value* emit_leg(const PlannedSegment& segment, size_t number, Value* record, Instruction& first) {
    IRBuilder<> builder(&first);
    builder.SetCurrentDebugLocation(first.getDebugLoc());
    auto index = static_cast<uint32_t>(segment.index + 2 + number);
    CallInst* call = builder.CreateCall(runtime_.leg, {record, segment_pointer(builder, index)});
    call->setCallingConv(CallingConv::PreserveMost);
    return call;
  }

  void emit_branch(BranchInst& branch, bool may_fill) {
    IRBuilder<> builder(&branch);
    Type* word = builder.getInt64Ty();
    Value* outcomes = builder.CreateShl(builder.CreateLoad(word, outcomes_), 1);
    outcomes = builder.CreateOr(outcomes, builder.CreateZExt(branch.getCondition(), word));
    builder.CreateStore(outcomes, outcomes_);
    if (!may_fill) return;
    Value* full = builder.CreateICmpUGE(outcomes, builder.getInt64(CLEAVE_BRANCHES_FULL));
    IRBuilder<> slow(SplitBlockAndInsertIfThen(full, &branch, false, unlikely_));
    slow.SetCurrentDebugLocation(branch.getDebugLoc());
    give_outcomes(slow);
    slow.CreateCall(runtime_.branches_full)->setCallingConv(CallingConv::PreserveMost);
    take_outcomes(slow);
  }

  void emit_range(const Action& action) {
    IRBuilder<> builder(action.at);
    builder.SetCurrentDebugLocation(action.at->getDebugLoc());
    give_outcomes(builder);
    RangeLength length = action.range->length;
    for (Value** value : {&length.count, &length.text, &length.other})
      if (*value != nullptr) *value = now(*value);
    Value* bytes = emit_length(builder, length);
    FunctionCallee hook = action.range->ends    ? runtime_.local_end
                          : action.range->write ? runtime_.range_write
                                                : runtime_.range_read;
    builder.CreateCall(hook,
                       {segment_pointer(builder, action.segment.index), now(action.range->address), bytes});
    take_outcomes(builder);
  }

  // The invariant of emit.h: while the function runs, __cleave_thread.branches is 1.
  void take_outcomes(IRBuilder<>& builder) {
    builder.CreateStore(builder.CreateLoad(builder.getInt64Ty(), runtime_.branches), outcomes_);
    builder.CreateStore(builder.getInt64(CLEAVE_BRANCHES_NONE), runtime_.branches);
  }
  void give_outcomes(IRBuilder<>& builder) {
    builder.CreateStore(builder.CreateLoad(builder.getInt64Ty(), outcomes_), runtime_.branches);
  }

  Value* segment_pointer(IRBuilder<>& builder, uint32_t index) {
    return ConstantExpr::getInBoundsGetElementPtr(builder.getInt32Ty(), &segments_, builder.getInt64(index));
  }

  // The metadata has done its work, and is in the bitcode that the binary carries.
  void remove_metadata() {
    for (BasicBlock& block : *plan_.function) {
      for (Instruction& instruction : block) {
        for (const char* kind : {kSlotMetadata, kPlaceMetadata, kSourcePlaceMetadata})
          instruction.setMetadata(kind, nullptr);
      }
    }
  }

  FunctionPlan& plan_;
  GlobalVariable& segments_;
  RuntimeFunctions runtime_;
  const DataLayout& layout_;
  MDNode* unlikely_;
  AllocaInst* outcomes_ = nullptr;
  DenseMap<Value*, PHINode*> joined_;  // values of segments with two copies, as the code behind them has them
};

}  // namespace

GlobalVariable* make_segments(Module& module, const SiteTables& tables) {
  std::vector<uint32_t> words;
  words.reserve(tables.segments.size());
  for (const SegmentTable& segment : tables.segments)
    words.push_back(segment.words | uint32_t{segment.flags} << 16);
  Constant* contents = ConstantDataArray::get(module.getContext(), words);
  auto* array = new GlobalVariable(module, contents->getType(), true, GlobalValue::InternalLinkage, contents,
                                   "__cleave_segments");
  array->setAlignment(Align(8));
  return array;
}

void emit(FunctionPlan& plan, GlobalVariable& segments) { Emitter(plan, segments).run(); }

}  // namespace cleave
