#include "pass/emit.h"

#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "abi/hooks.h"
#include "pass/emit_atomic.h"
#include "pass/marks.h"
#include "pass/runtime_functions.h"

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
      case Action::RangeHook:
        return emit_range(action);
    }
  }

  void emit_segment(const PlannedSegment& segment) {
    IRBuilder<> builder(segment.first);
    builder.SetCurrentDebugLocation(segment.first->getDebugLoc());
    Type* word = builder.getInt64Ty();
    uint64_t words = 1 + segment.words.size();
    Value* descriptor = segment_pointer(builder, segment.index);
    Value* cursor = builder.CreateLoad(builder.getPtrTy(), runtime_.cursor);
    Value* end = builder.CreateConstInBoundsGEP1_64(word, cursor, words);
    Value* limit = builder.CreateLoad(builder.getPtrTy(), runtime_.limit);
    BasicBlock* head = builder.GetInsertBlock();
    Instruction* cold =
        SplitBlockAndInsertIfThen(builder.CreateICmpUGT(end, limit), segment.first, false, unlikely_);
    Value* fresh = nullptr;
    {
      IRBuilder<> slow(cold);
      slow.SetCurrentDebugLocation(segment.first->getDebugLoc());
      give_outcomes(slow);
      CallInst* call = slow.CreateCall(runtime_.reserve, {slow.getInt64(words), descriptor});
      call->setCallingConv(CallingConv::PreserveMost);
      take_outcomes(slow);
      fresh = call;
    }
    builder.SetInsertPoint(segment.first);
    builder.SetCurrentDebugLocation(segment.first->getDebugLoc());
    PHINode* record =
        PHINode::Create(builder.getPtrTy(), 2, "cleave.record", segment.first->getParent()->begin());
    record->addIncoming(cursor, head);
    record->addIncoming(fresh, cold->getParent());
    builder.CreateStore(builder.CreateConstInBoundsGEP1_64(word, record, words), runtime_.cursor);
    Value* outcomes = builder.CreateShl(builder.CreateLoad(word, outcomes_), CLEAVE_HEADER_ADDRESS_BITS);
    builder.CreateStore(builder.CreateOr(outcomes, builder.CreatePtrToInt(descriptor, word)), record);
    builder.CreateStore(builder.getInt64(CLEAVE_BRANCHES_NONE), outcomes_);
    Value* here = record;
    size_t leg = 0;
    for (size_t i = 0; i < segment.words.size(); ++i) {
      for (; leg < segment.legs.size() && segment.legs[leg].words <= i; ++leg)
        here = emit_leg(segment, leg, here);
      const PlannedWord& planned = segment.words[i];
      builder.SetInsertPoint(planned.anchor);
      builder.SetCurrentDebugLocation(planned.anchor->getDebugLoc());
      Value* value = piece_value(builder, planned.value, planned.piece, layout_);
      builder.CreateStore(value, builder.CreateConstInBoundsGEP1_64(word, here, i + 1));
    }
  }

  // Before a leg but the first. All outcomes are in the segment's header.
  Value* emit_leg(const PlannedSegment& segment, size_t number, Value* record) {
    Instruction* first = segment.legs[number].first;
    IRBuilder<> builder(first);
    builder.SetCurrentDebugLocation(first->getDebugLoc());
    Value* limit = builder.CreateLoad(builder.getPtrTy(), runtime_.limit);
    BasicBlock* head = builder.GetInsertBlock();
    Instruction* cold =
        SplitBlockAndInsertIfThen(builder.CreateICmpULE(limit, record), first, false, unlikely_);
    IRBuilder<> slow(cold);
    slow.SetCurrentDebugLocation(first->getDebugLoc());
    auto index = static_cast<uint32_t>(segment.index + 2 + number);
    CallInst* call = slow.CreateCall(runtime_.leg, {record, segment_pointer(slow, index)});
    call->setCallingConv(CallingConv::PreserveMost);
    PHINode* next = PHINode::Create(builder.getPtrTy(), 2, "cleave.record", first->getParent()->begin());
    next->addIncoming(record, head);
    next->addIncoming(call, cold->getParent());
    return next;
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
    Value* bytes = emit_length(builder, action.range->length);
    builder.CreateCall(action.range->write ? runtime_.range_write : runtime_.range_read,
                       {segment_pointer(builder, action.segment.index), action.range->address, bytes});
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
