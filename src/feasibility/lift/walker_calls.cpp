// Calls: into bitcode, out of it, back again, and landings of exceptions and longjmp.
#include <fmt/format.h>

#include <algorithm>

#include "feasibility/lift/walker.h"

namespace cleave {

using namespace llvm;

void Walker::call(CallBase& call) {
  if (auto* marker = dyn_cast<IntrinsicInst>(&call)) {
    if (intrinsic(*marker)) return;
    if (!call.getType()->isVoidTy()) top().values[&call] = unknown_of(call.getType());
    return;
  }
  if (call.isInlineAsm()) {
    context_.not_modelled.insert("inline assembly");
    Lanes value = call.getType()->isVoidTy() ? Lanes{} : unknown_of(call.getType());
    for (const Use& use : call.args()) {
      for (const ThreadCursor& lane : operand(use)) pin(lane);
    }
    if (!call.use_empty() && !call.getType()->isVoidTy()) {
      for (ThreadCursor& lane : value) {
        const ScriptSlot* slot = take(SlotKind::CallResult);
        if (slot == nullptr) return;
        lane = known(slot->value, lane.width);
        pop();
      }
    }
    return finish_call(call, std::move(value));
  }
  Function* callee = dyn_cast<Function>(call.getCalledOperand()->stripPointerCasts());
  if (callee != nullptr && callee->getName().starts_with("__cleave_mark")) {
    const ScriptSlot* mark = next_place();
    if (mark != nullptr && (mark->is(SlotKind::UnitBegin) || mark->is(SlotKind::UnitEnd))) pop();
    return finish_call(call, {});
  }
  Function* body = nullptr;
  if (callee != nullptr) {
    body = callee->isDeclaration()
               ? context_.bitcode.definition(callee->getName().str(),
                                             context_.bitcode.identity_of(callee->getParent()))
               : callee;
    if (body != nullptr && body->hasFnAttribute(Attribute::DisableSanitizerInstrumentation)) body = nullptr;
  }
  std::vector<Lanes> arguments;
  for (const Use& use : call.args()) arguments.push_back(operand(use));
  top().call = &call;
  read_by_value(call);
  if (call.isMustTailCall()) {  // its frame is left before it
    const ScriptSlot* slot = next_place();
    if (slot != nullptr && slot->is(SlotKind::Exit) && in_current_function(*slot->segment)) pop();
  }
  if (callee == nullptr) body = target_of(call);
  if (callee == nullptr && body != nullptr) {
    pin(scalar(call.getCalledOperand()));  // another function would be another path
    ++context_.report.calls_followed;
    return push(body, std::move(arguments));
  }
  if (callee != nullptr && body != nullptr) {
    // Of an inline function the linker keeps one copy: the records say whose.
    const ScriptSlot* slot = next_place();
    if (slot != nullptr && slot->is(SlotKind::Call)) {
      pop();
      slot = next_place();
    }
    if (slot != nullptr && slot->place() != nullptr && !body->hasLocalLinkage()) {
      Function* other = context_.bitcode.function(slot->place()->module->identity, body->getName().str());
      if (other != nullptr && function_at(*slot->place()) == other) body = other;
    }
    return push(body, std::move(arguments));
  }
  call_outside(call);
}

// Where a call through a pointer went: what is recorded next is in the function that it entered. A function
// that calls others has a record of its beginning, so nothing with bitcode lies in between; code without
// bitcode that calls back has another type than the function it calls, as a rule, and its results are
// compared like all others. Null: not known.
Function* Walker::target_of(CallBase& call) {
  const ScriptSlot* slot = next_place();
  if (slot != nullptr && slot->is(SlotKind::Call)) {
    pop();
    slot = next_place();
  }
  if (slot == nullptr || slot->is(SlotKind::Landing) || slot->is(SlotKind::Exit)) return nullptr;
  if (!slot->is(SlotKind::Enter) && in_current_function(*slot->place())) return nullptr;
  Function* target = function_at(*slot->place());
  if (target == nullptr || target->getFunctionType() != call.getFunctionType() || target->isVarArg())
    return nullptr;
  return target;
}

// What was recorded as the result of a call through a pointer or into another module, beside what the walk of
// the function gave.
Lanes Walker::with_recorded_result(CallBase& call, Lanes value) {
  if (call.getType()->isVoidTy() || call.use_empty() || value.size() != lane_count(call.getType()))
    return value;
  for (ThreadCursor& lane : value) {
    const ScriptSlot* slot = next_place();
    if (slot == nullptr || !slot->is(SlotKind::CallResult)) break;
    const uint64_t recorded = truncate(slot->value, lane.width);
    if (!lane.known() || lane.invented) {
      const bool lost = lane.lost;
      lane = known(recorded, lane.width);
      lane.lost = lost;
    } else {
      ++context_.report.values_compared;
      if (lane.concrete != recorded) {
        mismatch(lane.concrete, recorded);
        lane = known(recorded, lane.width);
      }
    }
    pop();
  }
  return value;
}

void Walker::call_outside(CallBase& call) {
  met_symbols_ = false;
  // What is computed from its arguments out there is not known: they keep their values.
  Function* callee = dyn_cast<Function>(call.getCalledOperand()->stripPointerCasts());
  bool prints = callee != nullptr && (callee->getName().contains("print") || callee->getName() == "puts");
  if (!prints) {
    for (const Use& use : call.args()) {
      for (const ThreadCursor& lane : operand(use)) pin(lane);
    }
  }
  const ScriptSlot* slot = script_.peek();
  while (slot != nullptr && slot->segment == nullptr && slot->hook == nullptr) {
    pop();
    slot = script_.peek();
  }
  if (slot != nullptr && slot->is(SlotKind::Call)) pop();
  top().outside = true;
  top().outside_lost = met_symbols_;
}

// Code outside runs: it may call back, throw, never return, or come back to this frame.
void Walker::continue_outside() {
  const ScriptSlot* slot = next_place();
  if (slot == nullptr) {
    done_ = true;
    return;
  }
  if (slot->is(SlotKind::Landing)) {
    if (top().call->hasFnAttr(Attribute::ReturnsTwice) && slot->value == top().token) {
      pop();  // setjmp returns here, the first time or again
      slot = next_place();
    } else {
      return land(*slot);
    }
  }
  if (slot != nullptr && slot->hook != nullptr && slot->segment == nullptr &&
      (slot->kind == RecordKind::range_read || slot->kind == RecordKind::range_write) &&
      in_current_function(*slot->hook)) {
    range_outside(*slot);  // a string function at this call
    pop();
    return;
  }
  const bool left = top().call->isMustTailCall();  // then what follows in other functions may be its caller's
  if (slot != nullptr && (slot->is(SlotKind::Enter) || (!left && !in_current_function(*slot->place())))) {
    enter_from_script();
    return;
  }
  CallBase& call = *top().call;
  Lanes value;
  Function* callee = dyn_cast<Function>(call.getCalledOperand()->stripPointerCasts());
  if (!call.getType()->isVoidTy()) {
    value = unknown_of(call.getType());
    bool recorded = !call.use_empty() && (callee == nullptr || callee->isDeclaration());
    for (ThreadCursor& lane : value) {
      const ScriptSlot* result = recorded ? next_place() : nullptr;
      if (result == nullptr || !result->is(SlotKind::CallResult)) break;
      lane = known(result->value, lane.width);
      pop();
    }
    for (ThreadCursor& lane : value) lane.lost = top().outside_lost;
  }
  top().outside = false;
  finish_call(call, std::move(value));
}

void Walker::returned(Lanes value) {
  // The ends of units and the exit stand before the return.
  for (const ScriptSlot* slot = next_place(); slot != nullptr; slot = next_place()) {
    if (!(slot->is(SlotKind::Exit) || slot->is(SlotKind::UnitEnd)) || !in_current_function(*slot->segment))
      break;
    bool left = slot->is(SlotKind::Exit);
    pop();
    if (left) break;
  }
  frames_.pop_back();
  if (frames_.empty() || top().outside) return;  // back to code that has no bitcode
  CallBase& call = *top().call;
  const auto* callee = dyn_cast<Function>(call.getCalledOperand()->stripPointerCasts());
  if (callee == nullptr || callee->isDeclaration()) value = with_recorded_result(call, std::move(value));
  finish_call(call, std::move(value));
}

void Walker::finish_call(CallBase& call, Lanes value) {
  if (!call.getType()->isVoidTy()) {
    Lanes expected = unknown_of(call.getType());
    top().values[&call] = value.size() == expected.size() ? std::move(value) : std::move(expected);
  }
  top().call = nullptr;
  if (auto* invoke = dyn_cast<InvokeInst>(&call)) go_to(invoke->getNormalDest());
}

// An exception or longjmp has brought control back to the frame with this token.
void Walker::land(const ScriptSlot& landing) {
  uint64_t token = landing.value;
  while (!frames_.empty() && top().token != token) frames_.pop_back();
  if (frames_.empty()) return lose("a landing in a frame that is not there");
  Frame& frame = top();
  if (frame.call == nullptr) return lose("a landing in a frame that calls nothing");
  if (auto* invoke = dyn_cast<InvokeInst>(frame.call)) {
    frame.outside = false;
    frame.call = nullptr;
    pop();
    return go_to(invoke->getUnwindDest());
  }
  for (BasicBlock& block : *frame.function) {  // longjmp: behind the call of setjmp
    for (Instruction& instruction : block) {
      auto* call = dyn_cast<CallBase>(&instruction);
      if (call == nullptr || !call->hasFnAttr(Attribute::ReturnsTwice)) continue;
      frame.call = call;
      frame.block = &block;
      frame.next = std::next(instruction.getIterator());
      frame.outside = true;
      return;
    }
  }
  lose("a landing that no instruction explains");
}

}  // namespace cleave
