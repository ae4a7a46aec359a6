#include "pass/record/plan.h"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include <algorithm>

#include "abi/record.h"
#include "pass/mark/marks.h"
#include "pass/mark/outcomes.h"

namespace cleave {

using namespace llvm;

namespace {

// Below the ABI's limit with room for what follows the last access.
constexpr unsigned kMostWords = 160;
constexpr unsigned kMostAccesses =
    64;  // of a segment: where its legs are parted, each repeats the words before
static_assert(kMostWords + 16 < CLEAVE_SEGMENT_MAX_WORDS);

bool is_plain_call(const Instruction& instruction) {
  const auto* call = dyn_cast<CallBase>(&instruction);
  return call != nullptr && !isa<IntrinsicInst>(call) && !call->isInlineAsm() && !is_mark(*call);
}

const Function* called_function(const CallBase& call) {
  return dyn_cast<Function>(call.getCalledOperand()->stripPointerCastsAndAliases());
}

Piece whole_word() {
  Piece piece;
  piece.width = 8;
  return piece;
}

}  // namespace

Planner::Planner(Function& function, ScalarEvolution& evolution, TableBuilder& tables, const Names& names)
    : function_(function),
      layout_(function.getParent()->getDataLayout()),
      evolution_(evolution),
      tables_(tables),
      names_(names) {
  plan_.function = &function;
}

bool Planner::needs_frame() const {
  for (const BasicBlock& block : function_) {
    for (const Instruction& instruction : block) {
      if (is_plain_call(instruction)) return true;
      if (const auto* call = dyn_cast<CallBase>(&instruction); call != nullptr && is_mark(*call)) return true;
    }
  }
  return false;
}

FunctionPlan Planner::plan() {
  has_frame_ = needs_frame();
  bool lands = false;
  for (const BasicBlock& block : function_) {
    if (block.isLandingPad()) lands = true;
    for (const Instruction& instruction : block) {
      if (const auto* call = dyn_cast<CallBase>(&instruction);
          call != nullptr && call->hasFnAttr(Attribute::ReturnsTwice)) {
        lands = true;
      }
    }
  }
  if (lands) {
    BasicBlock& entry = function_.getEntryBlock();
    plan_.frame = new AllocaInst(Type::getInt64Ty(function_.getContext()), 0, "cleave.frame", entry.begin());
  }
  published_ = published_locals(function_);
  ++tables_.tables.coverage.functions;
  for (BasicBlock& block : function_) plan_block(block);
  bound_outcomes(plan_);
  return std::move(plan_);
}

void Planner::plan_block(BasicBlock& block) {
  Instruction& first = *block.getFirstNonPHIOrDbgOrAlloca();
  if (block.isEntryBlock() && has_frame_) {
    add_slot(SlotKind::Enter, first).aux = tables_.function(function_);
    if (plan_.frame != nullptr) table_.slots.back().value = word(first, plan_.frame, whole_word());
  }
  if (block.isEntryBlock()) {
    for (Argument& argument : function_.args()) {
      if (!argument.hasByValAttr()) continue;
      uint64_t bytes = layout_.getTypeAllocSize(argument.getParamByValType());
      Value* count = ConstantInt::get(Type::getInt64Ty(function_.getContext()), bytes);
      plan_range(first, first, {true, &argument, {RangeLength::Bytes, count, nullptr, nullptr}});
    }
  }
  if (LandingPadInst* pad = block.getLandingPadInst()) {
    plan_.actions.push_back({Action::AfterCall, pad->getNextNode(), {}});
    plan_landing(*pad, *pad->getNextNode());
  } else if (BasicBlock* caller = block.getSinglePredecessor()) {
    // prepare() has given every invoke a normal successor of its own.
    if (auto* invoke = dyn_cast<InvokeInst>(caller->getTerminator())) plan_returned(*invoke, first);
  }
  SmallVector<Instruction*, 32> instructions;
  for (Instruction& instruction : block) instructions.push_back(&instruction);
  for (Instruction* instruction : instructions) plan_instruction(*instruction);
  close();
}

void Planner::plan_landing(Instruction& at, Instruction& anchor) {
  add_slot(SlotKind::Landing, at, anchor);
  table_.slots.back().value = word(anchor, plan_.frame, whole_word());
}

void Planner::plan_instruction(Instruction& instruction) {
  Coverage& coverage = tables_.tables.coverage;
  if (auto* load = dyn_cast<LoadInst>(&instruction)) {
    if (leave_out(*load, load->getPointerOperand())) return;
    if (!load->isAtomic()) return plan_access(*load, load->getPointerOperand(), load, false);
    ++coverage.atomics;
    return plan_hook(Action::Atomic, *load, static_cast<unsigned>(layout_.getTypeStoreSize(load->getType())),
                     names_.of(*load, load->getPointerOperand(), false));
  }
  if (auto* store = dyn_cast<StoreInst>(&instruction)) {
    if (leave_out(*store, store->getPointerOperand())) return;
    if (!store->isAtomic())
      return plan_access(*store, store->getPointerOperand(), store->getValueOperand(), true);
    ++coverage.atomics;
    Type* type = store->getValueOperand()->getType();
    return plan_hook(Action::Atomic, *store, static_cast<unsigned>(layout_.getTypeStoreSize(type)),
                     names_.of(*store, store->getPointerOperand(), true));
  }
  if (isa<AtomicRMWInst>(instruction) || isa<AtomicCmpXchgInst>(instruction)) {
    Value* pointer = instruction.getOperand(0);
    if (leave_out(instruction, pointer)) return;
    ++coverage.atomics;
    Type* type = instruction.getOperand(1)->getType();
    return plan_hook(Action::Atomic, instruction, static_cast<unsigned>(layout_.getTypeStoreSize(type)),
                     names_.of(instruction, pointer, true));
  }
  if (auto* fence = dyn_cast<FenceInst>(&instruction)) {
    if (fence->getSyncScopeID() == SyncScope::SingleThread) return;
    ++coverage.atomics;
    return plan_hook(Action::Fence, *fence, 0);
  }
  if (auto* call = dyn_cast<CallBase>(&instruction)) return plan_call(*call);
  if (instruction.isTerminator()) plan_terminator(instruction);
}

bool Planner::leave_out(Instruction& access, Value* pointer) {
  Coverage& coverage = tables_.tables.coverage;
  if (pointer->getType()->getPointerAddressSpace() != 0 || privacy_.is_private(pointer)) {
    ++coverage.accesses_unshared;
    return true;
  }
  if (is_constant_memory(pointer) || is_vtable_access(access)) {
    ++coverage.accesses_constant;
    return true;
  }
  return pointer->isSwiftError();
}

void Planner::plan_access(Instruction& access, Value* pointer, Value* value, bool write) {
  auto pieces = pieces_of(value->getType(), layout_);
  if (!pieces) {
    ++tables_.tables.coverage.inline_assembly;  // a type of the machine's own: as opaque as assembly
    return;
  }
  bool full =
      segment_.words.size() + pieces->size() + 1 > kMostWords || segment_.legs.size() + 1 >= kMostAccesses;
  if (open_ && full) close();
  if (open_ && leg_has_access_) begin_leg(access);
  const size_t words_before = segment_.words.size();
  ++tables_.tables.coverage.accesses;
  AccessName name = names_.of(access, pointer, write);
  Operand first;
  uint32_t first_slot = 0;
  for (const Piece& piece : *pieces) {
    AccessName part =
        piece.offset == 0 ? name : Names::part(function_.getContext(), name, piece.offset, piece.width);
    Slot& slot = add_slot(write ? SlotKind::Write : SlotKind::Read, access, access, part);
    size_t number = table_.slots.size() - 1;
    slot.width = static_cast<uint8_t>(piece.width);
    if (piece.offset == pieces->front().offset) {
      first = address_of(access, pointer);
      first_slot = static_cast<uint32_t>(number);
      first.constant += first.source == Source::Word ? 0 : static_cast<int64_t>(piece.offset);
      table_.slots[number].address = first;
    } else if (first.source == Source::Global) {
      table_.slots[number].address = {Source::Global, first.index,
                                      first.constant + static_cast<int64_t>(piece.offset)};
    } else {
      table_.slots[number].address = {Source::Derived, first_slot, static_cast<int64_t>(piece.offset)};
    }
    table_.slots[number].value = value_of(access, value, piece, write);
    // Every leg but the first has a word of its own: how far an interrupted segment came is told by its
    // words.
    if (open_ && !segment_.legs.empty() && segment_.words.size() == words_before)
      table_.slots[number].address = first = address_word(access, pointer);
  }
  leg_has_access_ = true;
  table_.flags |= CLEAVE_SEGMENT_ACCESS;
}

Operand Planner::value_of(Instruction& access, Value* value, const Piece& piece, bool write) {
  const auto* constant = dyn_cast<ConstantInt>(value);
  if (constant != nullptr && constant->getBitWidth() <= 64)
    return {Source::Constant, 0, static_cast<int64_t>(constant->getZExtValue())};
  if (isa<ConstantPointerNull>(value) || isa<ConstantAggregateZero>(value)) return {Source::Constant, 0, 0};
  return word(write ? access : *access.getNextNode(), value, piece);
}

void Planner::open(Instruction& first) {
  open_ = true;
  segment_ = {};
  segment_.first = &first;
  table_ = {};
  table_.function = tables_.function(function_);
  leg_has_access_ = false;
  known_.clear();
}

void Planner::close() {
  if (!open_) return;
  open_ = false;
  segment_.index = static_cast<uint32_t>(tables_.tables.segments.size());
  table_.words = static_cast<uint16_t>(segment_.words.size());
  if (!segment_.legs.empty()) table_.flags |= CLEAVE_SEGMENT_LEGS;
  tables_.tables.segments.push_back(table_);
  if (!segment_.legs.empty()) {
    std::vector<LegStart> starts;
    for (const PlannedLeg& leg : segment_.legs) starts.push_back({leg.slots, leg.words});
    std::vector<SegmentTable> legs = leg_tables(table_, starts);
    tables_.tables.segments.insert(tables_.tables.segments.end(), legs.begin(), legs.end());
  }
  plan_.actions.push_back({Action::Segment, segment_.first, std::move(segment_)});
}

void Planner::begin_leg(Instruction& first) {
  segment_.legs.push_back(
      {&first, static_cast<uint16_t>(table_.slots.size()), static_cast<uint16_t>(segment_.words.size())});
  leg_has_access_ = false;
}

Slot& Planner::add_slot(SlotKind kind, Instruction& at, Instruction& anchor, const AccessName& name) {
  if (!open_) open(anchor);
  Slot& slot = table_.slots.emplace_back();
  slot.kind = kind;
  slot.site = tables_.site(at.getDebugLoc().get(), function_, name);
  // Numbers for whoever walks the bitcode: the first slot that belongs to the instruction. Enter belongs to
  // none.
  uint32_t segment = static_cast<uint32_t>(tables_.tables.segments.size());
  if (kind != SlotKind::Enter && !at.hasMetadata(kSlotMetadata)) {
    LLVMContext& context = function_.getContext();
    Type* word = Type::getInt32Ty(context);
    auto number = [&](uint64_t value) { return ConstantAsMetadata::get(ConstantInt::get(word, value)); };
    at.setMetadata(kSlotMetadata, MDNode::get(context, {number(segment), number(table_.slots.size() - 1)}));
  }
  return slot;
}

Operand Planner::word(Instruction& anchor, Value* value, const Piece& piece) {
  for (size_t i = 0; i < segment_.words.size(); ++i) {
    const PlannedWord& known = segment_.words[i];
    if (known.value == value && known.piece.offset == piece.offset && known.piece.path == piece.path) {
      return {Source::Word, static_cast<uint32_t>(i), 0};
    }
  }
  segment_.words.push_back({&anchor, value, piece});
  return {Source::Word, static_cast<uint32_t>(segment_.words.size() - 1), 0};
}

Operand Planner::address_of(Instruction& access, Value* pointer) {
  APInt offset(64, 0);
  Value* base = pointer->stripAndAccumulateConstantOffsets(layout_, offset, /*AllowNonInbounds=*/true);
  int64_t constant = offset.getSExtValue();
  if (auto* variable = dyn_cast<GlobalVariable>(base)) {
    uint32_t index = tables_.global(*variable);
    if (index != kNoIndex) return {Source::Global, index, constant};
  }
  for (const KnownAddress& known : known_) {
    if (known.base == base) return {Source::Derived, known.slot, constant - known.offset};
  }
  // a[i] and a[i + 1]: the indices differ by a constant, which only their expressions show.
  const SCEV* expression = evolution_.getSCEV(pointer);
  for (const KnownAddress& known : known_) {
    const auto* distance = dyn_cast<SCEVConstant>(evolution_.getMinusSCEV(expression, known.expression));
    if (distance != nullptr) return {Source::Derived, known.slot, distance->getAPInt().getSExtValue()};
  }
  known_.push_back({base, constant, static_cast<uint32_t>(table_.slots.size() - 1), expression});
  return address_word(access, pointer);
}

// Never shared with a value's word: only an address word that was not reached is zero.
Operand Planner::address_word(Instruction& access, Value* pointer) {
  segment_.words.push_back({&access, pointer, whole_word()});
  return {Source::Word, static_cast<uint32_t>(segment_.words.size() - 1), 0};
}

void Planner::plan_hook(Action::Kind kind, Instruction& at, unsigned width, const AccessName& name) {
  close();
  Slot& slot = add_slot(SlotKind::Hook, at, at, name);
  slot.width = static_cast<uint8_t>(std::min(width, 8u));
  if (kind != Action::Fence) table_.flags |= CLEAVE_SEGMENT_ACCESS;
  close();
  Action& action = plan_.actions.back();
  action.kind = kind;
  action.at = &at;
}

void Planner::plan_mark(CallBase& call) {
  bool begins = is_unit_begin(call);
  uint32_t unit = kNoIndex;
  const auto* number = dyn_cast<ConstantInt>(call.getArgOperand(0));
  const NamedMDNode* list = function_.getParent()->getNamedMetadata(kUnitList);
  if (list != nullptr && number != nullptr && number->getZExtValue() < list->getNumOperands()) {
    const MDNode* node = list->getOperand(static_cast<unsigned>(number->getZExtValue()));
    auto source = mdconst::extract<ConstantInt>(node->getOperand(1))->getZExtValue();
    auto* debug = dyn_cast_or_null<DISubprogram>(node->getOperand(2));
    unit = tables_.unit(cast<MDString>(node->getOperand(0))->getString().str(), static_cast<uint32_t>(source),
                        debug != nullptr ? tables_.function(debug) : kNoIndex,
                        tables_.type(dyn_cast_or_null<DICompositeType>(node->getOperand(3))));
    auto accessor = static_cast<Accessor>(mdconst::extract<ConstantInt>(node->getOperand(4))->getZExtValue());
    if (debug != nullptr && accessor != Accessor::None) tables_.note_accessor(debug, accessor);
  }
  Slot& slot = add_slot(begins ? SlotKind::UnitBegin : SlotKind::UnitEnd, call);
  slot.aux = unit;
  if (!begins) return;
  Value* object = call.getArgOperand(1);
  // Also where the object is a global, which is a constant here.
  if (!isa<ConstantPointerNull>(object)) table_.slots.back().value = word(call, object, whole_word());
}

void Planner::plan_call(CallBase& call) {
  if (is_mark(call)) return plan_mark(call);
  if (call.isInlineAsm()) {
    close();
    ++tables_.tables.coverage.inline_assembly;
    if (!call.isTerminator()) plan_result(call, *call.getNextNode());
    return;
  }
  if (plan_range_call(call)) return;
  if (const auto* intrinsic = dyn_cast<IntrinsicInst>(&call)) {
    // Masked and machine-specific accesses: not recorded, but counted.
    bool touches = intrinsic->mayReadOrWriteMemory() && !intrinsic->isAssumeLikeIntrinsic() &&
                   !intrinsic->onlyAccessesInaccessibleMemory();
    bool points = std::ranges::any_of(intrinsic->args(),
                                      [](const Use& use) { return use->getType()->isPtrOrPtrVectorTy(); });
    if (touches && points && !intrinsic->isLifetimeStartOrEnd()) ++tables_.tables.coverage.inline_assembly;
    return;
  }
  plan_by_value(call);
  if (call.isMustTailCall() && has_frame_) add_slot(SlotKind::Exit, call);
  add_slot(SlotKind::Call, call);
  if (const Function* callee = called_function(call)) {
    table_.slots.back().aux = tables_.function(*callee);
  } else {
    table_.slots.back().value = word(call, call.getCalledOperand(), whole_word());
  }
  table_.flags |= CLEAVE_SEGMENT_CALL;
  close();
  if (!call.isMustTailCall() && !call.isTerminator()) plan_returned(call, *call.getNextNode());
}

void Planner::plan_returned(CallBase& call, Instruction& anchor) {
  if (isa<UnreachableInst>(anchor)) return;
  plan_.actions.push_back({Action::AfterCall, &anchor, {}});
  if (call.hasFnAttr(Attribute::ReturnsTwice)) plan_landing(call, anchor);
  for (const Range& range : results_behind_pointers(call)) plan_range(call, anchor, range);
  const Function* callee = called_function(call);
  if (callee == nullptr || callee->isDeclaration()) plan_result(call, anchor);
}

void Planner::plan_result(CallBase& call, Instruction& anchor) {
  if (call.getType()->isVoidTy() || call.use_empty()) return;
  auto pieces = pieces_of(call.getType(), layout_);
  if (!pieces) return;
  for (const Piece& piece : *pieces) {
    add_slot(SlotKind::CallResult, call, anchor).width = static_cast<uint8_t>(piece.width);
    table_.slots.back().value = word(anchor, &call, piece);
  }
}

void Planner::plan_terminator(Instruction& terminator) {
  if (auto* branch = dyn_cast<BranchInst>(&terminator)) {
    if (!branch->isConditional() || isa<Constant>(branch->getCondition()) ||
        branch->getSuccessor(0) == branch->getSuccessor(1)) {
      return;
    }
    close();
    ++tables_.tables.coverage.branches;
    plan_.actions.push_back({Action::Branch, branch, {}});
    return;
  }
  if (isa<SwitchInst>(terminator) || isa<IndirectBrInst>(terminator)) {
    Value* value = terminator.getOperand(0);
    auto pieces = pieces_of(value->getType(), layout_);
    if (isa<Constant>(value) || !pieces || pieces->size() != 1) return;
    add_slot(SlotKind::Switch, terminator).width = static_cast<uint8_t>(pieces->front().width);
    table_.slots.back().value = word(terminator, value, pieces->front());
    return;
  }
  if (isa<ReturnInst>(terminator) || isa<ResumeInst>(terminator)) {
    const auto* before = dyn_cast_or_null<CallInst>(terminator.getPrevNonDebugInstruction());
    if (before != nullptr && before->isMustTailCall()) return;
    plan_local_ends(terminator);
    if (has_frame_ && isa<ReturnInst>(terminator)) {
      add_slot(SlotKind::Exit, terminator);
      return close();  // its record has taken all outcomes
    }
    close();
    plan_.actions.push_back({Action::Leave, &terminator, {}});
  }
}

bool Planner::plan_range(Instruction& at, Instruction& anchor, const Range& range) {
  if (range.address->getType()->getPointerAddressSpace() != 0 || privacy_.is_private(range.address))
    return false;
  if (!range.write && is_constant_memory(range.address)) return false;
  ++tables_.tables.coverage.ranges;
  plan_hook(Action::RangeHook, at, 0, names_.of(at, range.address, range.write));
  plan_.actions.back().at = &anchor;
  plan_.actions.back().range = range;
  return true;
}

void Planner::plan_local_ends(Instruction& leave) {
  for (AllocaInst* local : published_) {
    if (local == plan_.frame) continue;
    std::optional<TypeSize> bytes = local->getAllocationSize(layout_);
    if (!bytes || bytes->isScalable()) continue;
    Value* count = ConstantInt::get(Type::getInt64Ty(function_.getContext()), bytes->getFixedValue());
    plan_range(leave, leave, {true, local, {RangeLength::Bytes, count, nullptr, nullptr}, true});
  }
}

bool Planner::plan_range_call(CallBase& call) {
  std::vector<Range> ranges = ranges_of(call);
  if (ranges.empty()) return false;
  bool pointed = false;  // a scheduler may come before the call
  for (const Range& range : ranges) {
    if (!range.write && plan_range(call, call, range)) pointed = true;
  }
  close();
  Instruction& next = *call.getNextNode();
  for (const Range& range : ranges) {
    if (!range.write || !plan_range(call, next, range) || pointed) continue;
    pointed = true;
    Action before{Action::RangePoint, &call, {}};
    before.segment.index = plan_.actions.back().segment.index;
    tables_.tables.segments[before.segment.index].flags |= CLEAVE_SEGMENT_POINT;
    plan_.actions.insert(plan_.actions.end() - 1, std::move(before));
  }
  if (!isa<IntrinsicInst>(call)) plan_result(call, next);
  return true;
}

// An argument passed by value is copied where no instruction shows it.
void Planner::plan_by_value(CallBase& call) {
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    if (!call.isByValArgument(i)) continue;
    Value* bytes = ConstantInt::get(Type::getInt64Ty(call.getContext()),
                                    layout_.getTypeAllocSize(call.getParamByValType(i)));
    plan_range(call, call, {false, call.getArgOperand(i), {RangeLength::Bytes, bytes, nullptr, nullptr}});
  }
}

}  // namespace cleave
