#include "dependence/bitcode/function_flow.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>

namespace cleave::dependence {

using namespace llvm;

namespace {

constexpr const char* kSlotMetadata = "cleave.slot";
constexpr StringRef kMark = "__cleave_";

const AllocaInst* local_behind(const Value* pointer) {
  return pointer->getType()->isPointerTy() ? dyn_cast<AllocaInst>(getUnderlyingObject(pointer, 0)) : nullptr;
}

const Function* called(const CallBase& call) {
  return dyn_cast<Function>(call.getCalledOperand()->stripPointerCastsAndAliases());
}

bool is_mark(const CallBase& call) {
  const Function* callee = called(call);
  return callee != nullptr && callee->getName().starts_with(kMark);
}

bool has_slot(const Instruction& instruction) { return instruction.getMetadata(kSlotMetadata) != nullptr; }

uint32_t slot_number(const Instruction& instruction, unsigned operand) {
  const MDNode* node = instruction.getMetadata(kSlotMetadata);
  if (node == nullptr || node->getNumOperands() <= operand) return UINT32_MAX;
  const auto* number = mdconst::dyn_extract<ConstantInt>(node->getOperand(operand));
  return number == nullptr ? UINT32_MAX : static_cast<uint32_t>(number->getZExtValue());
}

// By the place of the branch, or of its condition; code without places is taken for the program's.
bool in_library(const Instruction& terminator) {
  const DILocation* location = terminator.getDebugLoc().get();
  if (location == nullptr && terminator.getNumOperands() > 0) {
    if (const auto* condition = dyn_cast<Instruction>(terminator.getOperand(0)))
      location = condition->getDebugLoc().get();
  }
  return location != nullptr &&
         (location->getDirectory() + "/" + location->getFilename()).str().find("/usr/") != std::string::npos;
}

// Whether a way of the branch ends the program or throws: who takes it does not decide, it fails.
bool may_fail(const BasicBlock& branch) {
  for (const BasicBlock* way : successors(&branch)) {
    for (unsigned steps = 0; way != nullptr && steps < 8; ++steps, way = way->getSingleSuccessor()) {
      if (isa<UnreachableInst>(way->getTerminator())) return true;
    }
  }
  return false;
}

bool copies(const IntrinsicInst& call) { return isa<AnyMemTransferInst>(call); }

}  // namespace

FunctionAnalysis::FunctionAnalysis(Function& function, const std::function<bool(StringRef)>& defined)
    : function_(function), defined_(defined), dominators_(function), after_(function), loops_(dominators_) {}

FunctionFlow FunctionAnalysis::run() {
  flow_.linkage = function_.getName().str();
  flow_.name = demangle(flow_.linkage);
  flow_.parameters = static_cast<uint32_t>(function_.arg_size());
  flow_.internal = function_.hasLocalLinkage();
  number_elements();
  find_control();
  close_control();
  size_ = flow_.parameters + static_cast<unsigned>(flow_.elements.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (Instruction& instruction : instructions(function_)) changed |= step(instruction);
  }
  fill_tables();
  return std::move(flow_);
}

void FunctionAnalysis::note_element(Instruction& instruction, ElementKind kind) {
  elements_[&instruction] = static_cast<uint32_t>(flow_.elements.size());
  instructions_.push_back(&instruction);
  Element& element = flow_.elements.emplace_back();
  element.kind = kind;
  element.atomic = instruction.isAtomic();
  element.compares = isa<AtomicCmpXchgInst>(instruction);
  element.segment = slot_number(instruction, 0);
  element.slot = slot_number(instruction, 1);
}

void FunctionAnalysis::number_elements() {
  for (const Loop* loop : loops_.getLoopsInPreorder()) {
    loop_numbers_[loop] = static_cast<uint32_t>(flow_.loop_parent.size());
    const Loop* parent = loop->getParentLoop();
    flow_.loop_parent.push_back(parent == nullptr ? UINT32_MAX : loop_numbers_.lookup(parent));
  }
  for (Instruction& instruction : instructions(function_)) {
    if (auto* call = dyn_cast<CallBase>(&instruction)) {
      if (is_mark(*call) || call->isInlineAsm()) continue;
      if (auto* intrinsic = dyn_cast<IntrinsicInst>(call)) {
        if (has_slot(*intrinsic))
          note_element(*intrinsic, copies(*intrinsic) ? ElementKind::Copy : ElementKind::Fill);
        continue;
      }
      const Function* callee = called(*call);
      const bool known = callee == nullptr || defined_(callee->getName());
      note_element(*call, known ? ElementKind::Call : ElementKind::Opaque);
      if (callee != nullptr) flow_.elements.back().callee = callee->getName().str();
      continue;
    }
    if (!has_slot(instruction)) continue;
    if (isa<LoadInst>(instruction)) note_element(instruction, ElementKind::Read);
    if (isa<StoreInst>(instruction)) note_element(instruction, ElementKind::Write);
    if (isa<AtomicRMWInst>(instruction) || isa<AtomicCmpXchgInst>(instruction))
      note_element(instruction, ElementKind::Update);
  }
}

bool FunctionAnalysis::is_conditional(const Instruction& terminator) {
  return terminator.getNumSuccessors() > 1;
}

// Ferrante, Ottenstein and Warren: a block depends on a branch if it comes after one of its ways for sure,
// but not after the branch itself.
void FunctionAnalysis::find_control() {
  for (const BasicBlock& block : function_) {
    if (!is_conditional(*block.getTerminator())) continue;
    branches_[&block] = static_cast<uint32_t>(flow_.branches.size());
    branch_blocks_.push_back(&block);
    Branch& branch = flow_.branches.emplace_back();
    branch.library = in_library(*block.getTerminator());
    branch.fails = may_fail(block);
    if (const Loop* loop = loops_.getLoopFor(&block)) {
      branch.loop = loop_numbers_.lookup(loop);
      branch.exits_loop = loop->isLoopExiting(&block);
    }
  }
  for (const BasicBlock* block : branch_blocks_) {
    const auto* node = after_.getNode(block);
    const auto* stop = node == nullptr ? nullptr : node->getIDom();
    for (const BasicBlock* next : successors(block)) {
      for (const auto* at = after_.getNode(next); at != nullptr && at != stop; at = at->getIDom()) {
        const BasicBlock* decided = at->getBlock();
        // What comes before the branch in each round of a loop is decided by it for the next round only.
        if (decided == nullptr || dominators_.dominates(decided, block)) continue;
        std::vector<uint32_t>& by = direct_[decided];
        const uint32_t branch = branches_[block];
        if (std::find(by.begin(), by.end(), branch) == by.end()) by.push_back(branch);
      }
    }
  }
}

void FunctionAnalysis::close_control() {
  for (const BasicBlock& block : function_) {
    std::vector<uint32_t> found, open = direct_.lookup(&block);
    while (!open.empty()) {
      const uint32_t branch = open.back();
      open.pop_back();
      if (std::find(found.begin(), found.end(), branch) != found.end()) continue;
      found.push_back(branch);
      const std::vector<uint32_t>& above = direct_[branch_blocks_[branch]];
      open.insert(open.end(), above.begin(), above.end());
    }
    std::sort(found.begin(), found.end());
    all_[&block] = std::move(found);
  }
}

uint32_t FunctionAnalysis::element_of(const Instruction& instruction) const {
  auto it = elements_.find(&instruction);
  return it == elements_.end() ? kNoElement : it->second;
}

FunctionAnalysis::Set FunctionAnalysis::single(uint32_t element) const {
  Set set(size_);
  set.set(flow_.parameters + element);
  return set;
}

// What a value that is used there depends on. One that a loop computes and that is used behind the loop also
// depends on what ended the loop.
FunctionAnalysis::Set FunctionAnalysis::of(const Value* value, const Instruction* user) const {
  Set set(size_);
  if (const auto* argument = dyn_cast<Argument>(value)) {
    set.set(argument->getArgNo());
    return set;
  }
  const auto* instruction = dyn_cast<Instruction>(value);
  if (instruction == nullptr) return set;
  if (auto it = values_.find(value); it != values_.end()) set |= it->second;
  const BasicBlock* there = user == nullptr ? nullptr : user->getParent();
  for (const Loop* loop = loops_.getLoopFor(instruction->getParent());
       loop != nullptr && there != nullptr && !loop->contains(there); loop = loop->getParentLoop()) {
    SmallVector<BasicBlock*, 4> exits;
    loop->getExitingBlocks(exits);
    for (const BasicBlock* exit : exits) {
      for (const Use& operand : exit->getTerminator()->operands()) {
        if (auto it = values_.find(operand.get()); it != values_.end()) set |= it->second;
      }
    }
  }
  return set;
}

FunctionAnalysis::Set FunctionAnalysis::of_operands(const Instruction& instruction) const {
  Set set(size_);
  for (const Use& operand : instruction.operands()) set |= of(operand.get(), &instruction);
  return set;
}

// The branches that decide between coming to `to` from there and coming from elsewhere.
FunctionAnalysis::Set FunctionAnalysis::deciding(const BasicBlock* from, const BasicBlock* to) const {
  Set set(size_);
  auto add = [&](const BasicBlock* branch) {
    const Instruction* terminator = branch->getTerminator();
    for (const Use& operand : terminator->operands()) set |= of(operand.get(), terminator);
  };
  if (is_conditional(*from->getTerminator())) add(from);
  auto mine = direct_.find(to);
  for (auto it = direct_.find(from); it != direct_.end(); it = direct_.end()) {
    for (uint32_t branch : it->second) {
      const bool both = mine != direct_.end() &&
                        std::find(mine->second.begin(), mine->second.end(), branch) != mine->second.end();
      if (!both) add(branch_blocks_[branch]);
    }
  }
  return set;
}

FunctionAnalysis::Set FunctionAnalysis::of_phi(const PHINode& phi) const {
  Set set(size_);
  const bool heads_loop = loops_.isLoopHeader(phi.getParent());
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    set |= of(phi.getIncomingValue(i), phi.getIncomingBlock(i)->getTerminator());
    if (!heads_loop) set |= deciding(phi.getIncomingBlock(i), phi.getParent());
  }
  return set;
}

bool FunctionAnalysis::into_cell(const Value* pointer, const Set& what) {
  const AllocaInst* local = local_behind(pointer);
  if (local == nullptr) return false;
  Set& cell = cells_.try_emplace(local, Set(size_)).first->second;
  Set before = cell;
  cell |= what;
  return cell != before;
}

FunctionAnalysis::Set FunctionAnalysis::in_cell(const Value* pointer) const {
  const AllocaInst* local = local_behind(pointer);
  auto it = local == nullptr ? cells_.end() : cells_.find(local);
  return it == cells_.end() ? Set(size_) : it->second;
}

bool FunctionAnalysis::set_value(const Value& value, const Set& set) {
  Set& known = values_.try_emplace(&value, Set(size_)).first->second;
  if (known == set) return false;
  Set before = known;
  known |= set;
  return known != before;
}

FunctionAnalysis::Set FunctionAnalysis::of_load(const LoadInst& load) const {
  Set set = in_cell(load.getPointerOperand());
  const uint32_t element = element_of(load);
  if (element != kNoElement)
    set |= single(element);
  else
    set |= of(load.getPointerOperand(), &load);
  return set;
}

bool FunctionAnalysis::step_store(StoreInst& store) {
  return into_cell(store.getPointerOperand(), of(store.getValueOperand(), &store));
}

bool FunctionAnalysis::step_transfer(CallBase& call) {
  const Value* target = call.getArgOperand(0);
  Set what(size_);
  if (isa<AnyMemTransferInst>(call))
    what |= in_cell(call.getArgOperand(1));
  else
    what |= of(call.getArgOperand(1), &call);
  if (const uint32_t element = element_of(call); element != kNoElement) what |= single(element);
  return into_cell(target, what);
}

// A call leaves its result in the local variables that it is given, too.
bool FunctionAnalysis::step_call(CallBase& call) {
  if (is_mark(call)) return false;
  if (isa<AnyMemIntrinsic>(call)) return step_transfer(call);
  const uint32_t element = element_of(call);
  if (element == kNoElement) return !call.getType()->isVoidTy() && set_value(call, of_operands(call));
  bool changed = false;
  for (const Use& argument : call.args()) changed |= into_cell(argument.get(), single(element));
  if (!call.getType()->isVoidTy()) changed |= set_value(call, single(element));
  return changed;
}

bool FunctionAnalysis::step(Instruction& instruction) {
  if (auto* call = dyn_cast<CallBase>(&instruction)) return step_call(*call);
  if (auto* store = dyn_cast<StoreInst>(&instruction)) return step_store(*store);
  if (auto* load = dyn_cast<LoadInst>(&instruction)) return set_value(*load, of_load(*load));
  if (auto* phi = dyn_cast<PHINode>(&instruction)) return set_value(*phi, of_phi(*phi));
  if (instruction.getType()->isVoidTy()) return false;
  if (const uint32_t element = element_of(instruction); element != kNoElement)
    return set_value(instruction, single(element));
  return set_value(instruction, of_operands(instruction));
}

Origins FunctionAnalysis::origins(const Set& set) const {
  Origins result;
  for (unsigned bit : set.set_bits()) {
    if (bit < flow_.parameters)
      result.push_back({Origin::Kind::Parameter, bit});
    else
      result.push_back({Origin::Kind::Element, bit - flow_.parameters});
  }
  std::sort(result.begin(), result.end());
  return result;
}

void FunctionAnalysis::fill_element(const Instruction& instruction, Element& element) {
  if (const auto* load = dyn_cast<LoadInst>(&instruction)) {
    element.address = origins(of(load->getPointerOperand(), load));
  } else if (const auto* store = dyn_cast<StoreInst>(&instruction)) {
    element.value = origins(of(store->getValueOperand(), store));
    element.address = origins(of(store->getPointerOperand(), store));
  } else if (isa<AtomicRMWInst>(instruction) || isa<AtomicCmpXchgInst>(instruction)) {
    Set value(size_);
    for (unsigned i = 1; i < instruction.getNumOperands(); ++i)
      value |= of(instruction.getOperand(i), &instruction);
    element.value = origins(value);
    element.address = origins(of(instruction.getOperand(0), &instruction));
  } else if (const auto* memory = dyn_cast<AnyMemIntrinsic>(&instruction)) {
    Set address = of(memory->getRawDest(), memory), value = of(memory->getLength(), memory);
    if (const auto* transfer = dyn_cast<AnyMemTransferInst>(memory)) {
      address |= of(transfer->getRawSource(), memory);
      value |= in_cell(transfer->getRawSource());
    } else {
      value |= of(memory->getArgOperand(1), memory);
    }
    element.address = origins(address);
    element.value = origins(value);
  } else if (const auto* call = dyn_cast<CallBase>(&instruction)) {
    for (const Use& argument : call->args()) {
      Set set = of(argument.get(), call);
      if (element.kind == ElementKind::Opaque) set |= in_cell(argument.get());
      element.arguments.push_back(origins(set));
    }
    if (called(*call) == nullptr) element.address = origins(of(call->getCalledOperand(), call));
  }
}

void FunctionAnalysis::fill_tables() {
  Set returned(size_);
  for (const BasicBlock& block : function_) {
    if (const auto* leave = dyn_cast<ReturnInst>(block.getTerminator());
        leave != nullptr && leave->getReturnValue() != nullptr)
      returned |= of(leave->getReturnValue(), leave);
  }
  flow_.returned = origins(returned);
  for (uint32_t b = 0; b < branch_blocks_.size(); ++b) {
    const Instruction* terminator = branch_blocks_[b]->getTerminator();
    flow_.branches[b].condition = origins(of_operands(*terminator));
  }
  for (uint32_t e = 0; e < instructions_.size(); ++e) {
    Element& element = flow_.elements[e];
    const BasicBlock* block = instructions_[e]->getParent();
    element.decided_by = all_.lookup(block);
    if (const Loop* loop = loops_.getLoopFor(block)) element.loop = loop_numbers_.lookup(loop);
    fill_element(*instructions_[e], element);
  }
}

}  // namespace cleave::dependence
