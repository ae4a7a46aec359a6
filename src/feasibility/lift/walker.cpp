#include "feasibility/lift/walker.h"

#include <fmt/format.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>

namespace cleave {

using namespace llvm;

namespace {

constexpr uint64_t kInventedFrom = uint64_t{0x60} << 56;  // no program has addresses here
constexpr uint64_t kMostInstructions = 4'000'000'000;

const char* slot_word(const ScriptSlot& slot) {
  if (slot.is(SlotKind::Read)) return "read";
  if (slot.is(SlotKind::Write)) return "write";
  return slot.kind == RecordKind::range_read    ? "range read"
         : slot.kind == RecordKind::range_write ? "range written"
                                                : "record";
}

// Of a trace that ends early the file may have more records than the trace has events.
uint64_t last_record(const WalkContext& context, ThreadId thread) {
  if (!context.recorded.trace.ends_early()) return UINT64_MAX;
  uint64_t last = 0;
  for (uint32_t event : context.events[raw(thread)])
    last = std::max(last, context.recorded.origins[event].record);
  return last;
}

}  // namespace

Walker::Walker(WalkContext& context, ThreadId thread, size_t lane)
    : context_(context),
      thread_(thread),
      script_(*context.recorded.file, lane, last_record(context, thread)),
      memory_(context.symbolic.pool()),
      next_invented_(kInventedFrom + (uint64_t{raw(thread)} << 40)) {
  for (uint32_t event : context.events[raw(thread)]) {
    const EventOrigin& origin = context.recorded.origins[event];
    events_by_origin_[{origin.record, origin.slot}].push_back(event);
  }
}

void Walker::run() {
  while (!lost_ && !done_) {
    if (frames_.empty()) {
      if (!enter_from_script()) break;
    } else if (top().outside) {
      continue_outside();
    } else {
      step();
    }
    if (++context_.report.instructions > kMostInstructions) lose("more instructions than the walk may take");
  }
}

void Walker::lose(std::string why) {
  lost_ = true;
  ++context_.report.threads_lost;
  std::string where = frames_.empty() ? "" : " in " + top().function->getName().str();
  if (!frames_.empty() && top().next != top().block->begin()) {
    if (const DebugLoc& line = std::prev(top().next)->getDebugLoc())
      where += fmt::format(", line {}", line.getLine());
  }
  context_.report.remarks.push_back(fmt::format("{}: {}{}; the rest of the thread keeps its recorded values",
                                                context_.recorded.trace.thread(thread_).name, why, where));
}

// A defect of the walk, or memory that something outside changed under a private address. The record counts.
void Walker::mismatch(uint64_t computed, uint64_t recorded) {
  if (++context_.report.mismatches > 8) return;
  std::string text;
  raw_string_ostream out(text);
  Frame& frame = top();
  std::prev(frame.next)->print(out);
  context_.report.remarks.push_back(fmt::format("{}: {} computes {:#x}, recorded is {:#x}",
                                                frame.function->getName().str(), text, computed, recorded));
}

// Every slot that passes moves the thread's place among its events: conditions hang on the next one.
void Walker::pop() {
  const ScriptSlot* slot = script_.peek();
  auto it = events_by_origin_.find({slot->record, slot->segment != nullptr ? slot->slot : 0});
  if (it != events_by_origin_.end()) {
    const auto& mine = context_.events[raw(thread_)];
    size_t after =
        static_cast<size_t>(std::lower_bound(mine.begin(), mine.end(), it->second.back()) - mine.begin()) + 1;
    progress_ = std::max(progress_, after);
    for (uint32_t event : it->second) context_.legs[event] = slot->leg;
  }
  script_.pop();
}

const ScriptSlot* Walker::next_place() {
  for (;;) {
    const ScriptSlot* slot = script_.peek();
    if (slot == nullptr || slot->place() != nullptr) return slot;
    pop();
  }
}

// The next slot of this kind. Others that instructions do not ask for are passed over; a read or write that
// nobody asked for means that walk and records have parted.
const ScriptSlot* Walker::take(SlotKind kind) {
  for (;;) {
    const ScriptSlot* slot = script_.peek();
    if (slot == nullptr) {
      done_ = true;  // the records end here: killed, or exit in another thread
      return nullptr;
    }
    if (slot->is(kind)) return slot;
    bool skip = slot->segment == nullptr
                    ? slot->hook == nullptr
                    : slot->plan().kind != SlotKind::Read && slot->plan().kind != SlotKind::Write;
    if (!skip) {
      Function* there = function_at(*slot->place());
      lose(fmt::format("the records do not fit the code (they have a {} in {})", slot_word(*slot),
                       there == nullptr ? "?" : there->getName().str()));
      return nullptr;
    }
    pop();
  }
}

Function* Walker::function_at(const SegmentPlan& segment) {
  const SiteTables& tables = segment.module->tables;
  uint32_t index = tables.segments[segment.index].function;
  if (index == kNoIndex) return nullptr;
  return context_.bitcode.function(segment.module->identity, tables.functions[index].linkage);
}

bool Walker::in_current_function(const SegmentPlan& segment) {
  return function_at(segment) == top().function;
}

// Code that something outside called: a thread's first function, a constructor, a callback.
bool Walker::enter_from_script() {
  const ScriptSlot* slot = next_place();
  if (slot == nullptr) return false;
  Function* function = function_at(*slot->place());
  if (function == nullptr) {
    lose("no bitcode for what comes next");
    return false;
  }
  push(function, {});
  return true;
}

void Walker::push(Function* function, std::vector<Lanes> arguments) {
  Frame frame;
  frame.function = function;
  frame.block = &function->getEntryBlock();
  frame.next = frame.block->begin();
  frames_.push_back(std::move(frame));
  for (Argument& argument : function->args()) {
    unsigned number = argument.getArgNo();
    top().values[&argument] =
        number < arguments.size() ? std::move(arguments[number]) : unknown_of(argument.getType());
  }
  if (frames_.size() > 20000) return lose("recursion deeper than the walk follows");
  const ScriptSlot* slot = script_.peek();
  while (slot != nullptr && slot->segment == nullptr && slot->hook == nullptr) {
    pop();
    slot = script_.peek();
  }
  if (slot != nullptr && slot->is(SlotKind::Enter) && in_current_function(*slot->segment)) {
    top().token = slot->value;
    pop();
  }
  for (Argument& argument : function->args()) {
    if (!argument.hasByValAttr()) continue;
    const ScriptSlot* copy = range_here(RecordKind::range_write);
    top().values[&argument] =
        copy == nullptr ? unknown_of(argument.getType()) : Lanes{known(copy->words[2], 64)};
    if (copy == nullptr) continue;
    range_outside(*copy);
    pop();
  }
}

// The next slot, if it is a range of this kind in the current function; else null.
const ScriptSlot* Walker::range_here(RecordKind kind) {
  const ScriptSlot* slot = next_place();
  bool fits = slot != nullptr && slot->segment == nullptr && slot->hook != nullptr && slot->kind == kind;
  return fits && in_current_function(*slot->hook) ? slot : nullptr;
}

// Arguments passed by value are copied at the call: read here, written where the function begins. The copy is
// not followed; the bytes keep their values.
void Walker::read_by_value(CallBase& call) {
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    if (!call.isByValArgument(i)) continue;
    if (const ScriptSlot* copy = range_here(RecordKind::range_read)) {
      range_outside(*copy);
      pop();
    }
  }
}

void Walker::go_to(BasicBlock* target) {
  Frame& frame = top();
  std::vector<std::pair<const PHINode*, Lanes>> merged;
  for (PHINode& phi : target->phis())
    merged.emplace_back(&phi, operand(phi.getIncomingValueForBlock(frame.block)));
  for (auto& [phi, lanes] : merged) frame.values[phi] = std::move(lanes);
  frame.block = target;
  frame.next = target->getFirstNonPHIIt();
}

void Walker::step() {
  Frame& frame = top();
  Instruction& instruction = *frame.next++;
  switch (instruction.getOpcode()) {
    case Instruction::Br:
      return branch(cast<BranchInst>(instruction));
    case Instruction::Switch:
      return switch_to(cast<SwitchInst>(instruction));
    case Instruction::Ret: {
      Value* value = cast<ReturnInst>(instruction).getReturnValue();
      return returned(value == nullptr ? Lanes{} : operand(value));
    }
    case Instruction::Call:
    case Instruction::Invoke:
      return call(cast<CallBase>(instruction));
    case Instruction::Load:
      return cast<LoadInst>(instruction).isAtomic() ? atomic(instruction) : load(cast<LoadInst>(instruction));
    case Instruction::Store:
      return cast<StoreInst>(instruction).isAtomic() ? atomic(instruction)
                                                     : store(cast<StoreInst>(instruction));
    case Instruction::AtomicRMW:
    case Instruction::AtomicCmpXchg:
      return atomic(instruction);
    case Instruction::Fence:
      return;
    case Instruction::Alloca: {
      auto& alloca = cast<AllocaInst>(instruction);
      auto size = alloca.getAllocationSize(layout());
      uint64_t bytes = size && !size->isScalable() ? size->getFixedValue() : 4096;
      ThreadCursor address = known(invent(bytes), 64);
      address.invented = true;
      frame.values[&alloca] = {address};
      return;
    }
    case Instruction::Resume:
    case Instruction::Unreachable: {
      const ScriptSlot* slot = next_place();
      if (slot == nullptr) {
        done_ = true;
      } else if (slot->is(SlotKind::Landing)) {
        land(*slot);
      } else {
        lose("code that cannot be reached was");
      }
      return;
    }
    case Instruction::LandingPad:
      frame.values[&instruction] = unknown_of(instruction.getType());
      return;
    case Instruction::IndirectBr:
    case Instruction::CallBr:
    case Instruction::CatchSwitch:
      return lose("a computed jump");
    default:
      compute(instruction);
  }
}

// Recorded are exactly the branches whose two targets differ and whose condition is not a constant.
void Walker::branch(BranchInst& branch) {
  if (branch.isUnconditional()) return go_to(branch.getSuccessor(0));
  if (branch.getSuccessor(0) == branch.getSuccessor(1)) return go_to(branch.getSuccessor(0));
  if (auto* constant = dyn_cast<ConstantInt>(branch.getCondition())) {
    return go_to(branch.getSuccessor(constant->isZero() ? 1 : 0));
  }
  if (isa<Constant>(branch.getCondition())) return lose("a branch on no value");
  std::optional<bool> outcome = script_.outcome();
  if (!outcome) {
    done_ = true;
    return;
  }
  const ThreadCursor condition = scalar(branch.getCondition());
  count_branch(condition);
  assume(condition, *outcome);
  go_to(branch.getSuccessor(*outcome ? 0 : 1));
}

void Walker::switch_to(SwitchInst& instruction) {
  ThreadCursor value = scalar(instruction.getCondition());
  count_branch(value);
  if (!isa<Constant>(instruction.getCondition())) {
    const ScriptSlot* slot = take(SlotKind::Switch);
    if (slot == nullptr) return;
    ThreadCursor recorded = known(truncate(slot->value, value.width), value.width);
    if (!value.known() || value.invented) {
      value = recorded;
    } else if (value.concrete != recorded.concrete) {
      mismatch(value.concrete, recorded.concrete);
      value = recorded;
    }
    ++context_.report.values_compared;
    pop();
  }
  BasicBlock* target = instruction.getDefaultDest();
  ThreadCursor others = known(1, 1);  // no case matches
  for (const auto& option : instruction.cases()) {
    uint64_t number = option.getCaseValue()->getZExtValue();
    ThreadCursor equal = make(Op::Equal, 1, value, known(number, value.width));
    if (value.concrete == truncate(number, value.width)) {
      target = option.getCaseSuccessor();
      assume(equal, true);
      return go_to(target);
    }
    others = make(Op::And, 1, others, make(Op::Xor, 1, equal, known(1, 1)));
  }
  assume(others, true);
  go_to(target);
}

}  // namespace cleave
