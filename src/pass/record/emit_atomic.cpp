#include "pass/record/emit_atomic.h"

#include <llvm/Transforms/Utils/LowerAtomic.h>

#include "abi/hooks.h"
#include "pass/record/pieces.h"

namespace cleave {

using namespace llvm;

namespace {

struct Halves {
  Value *low, *high;
};

Halves halves_of(IRBuilder<>& builder, Value* value, const DataLayout& layout) {
  auto pieces = pieces_of(value->getType(), layout);
  Value* zero = builder.getInt64(0);
  if (!pieces || pieces->empty()) return {zero, zero};
  return {piece_value(builder, value, (*pieces)[0], layout),
          pieces->size() > 1 ? piece_value(builder, value, (*pieces)[1], layout) : zero};
}

struct Outcome {
  Value *operation, *order, *before, *after;
};

Value* order_number(IRBuilder<>& builder, AtomicOrdering order) {
  return builder.getInt32(static_cast<uint32_t>(toCABI(order)));
}

Outcome outcome_of(IRBuilder<>& builder, Instruction& operation) {
  if (auto* load = dyn_cast<LoadInst>(&operation)) {
    return {builder.getInt32(CLEAVE_ATOMIC_LOAD), order_number(builder, load->getOrdering()), load, load};
  }
  if (auto* store = dyn_cast<StoreInst>(&operation)) {
    Value* value = store->getValueOperand();
    return {builder.getInt32(CLEAVE_ATOMIC_STORE), order_number(builder, store->getOrdering()), value, value};
  }
  if (auto* update = dyn_cast<AtomicRMWInst>(&operation)) {
    Value* after = buildAtomicRMWValue(update->getOperation(), builder, update, update->getValOperand());
    return {builder.getInt32(CLEAVE_ATOMIC_UPDATE), order_number(builder, update->getOrdering()), update,
            after};
  }
  auto* exchange = cast<AtomicCmpXchgInst>(&operation);
  Value* before = builder.CreateExtractValue(exchange, 0);
  Value* done = builder.CreateExtractValue(exchange, 1);
  return {builder.CreateSelect(done, builder.getInt32(CLEAVE_ATOMIC_UPDATE),
                               builder.getInt32(CLEAVE_ATOMIC_LOAD)),
          builder.CreateSelect(done, order_number(builder, exchange->getSuccessOrdering()),
                               order_number(builder, exchange->getFailureOrdering())),
          before, builder.CreateSelect(done, exchange->getNewValOperand(), before)};
}

Value* pointer_of(Instruction& operation) {
  if (auto* store = dyn_cast<StoreInst>(&operation)) return store->getPointerOperand();
  return operation.getOperand(0);
}

}  // namespace

Instruction* emit_atomic(Instruction& operation, Value* segment, const RuntimeFunctions& runtime) {
  const DataLayout& layout = operation.getModule()->getDataLayout();
  Value* pointer = pointer_of(operation);
  IRBuilder<> before(&operation);
  before.SetCurrentDebugLocation(operation.getDebugLoc());
  Value* ticket = before.CreateCall(runtime.atomic_begin, {segment, pointer});

  IRBuilder<> builder(operation.getNextNode());
  builder.SetCurrentDebugLocation(operation.getDebugLoc());
  Outcome outcome = outcome_of(builder, operation);
  Type* type = isa<StoreInst>(operation) ? operation.getOperand(0)->getType() : outcome.before->getType();
  Halves old_value = halves_of(builder, outcome.before, layout);
  Halves new_value = halves_of(builder, outcome.after, layout);
  Value* bytes = builder.getInt32(static_cast<uint32_t>(layout.getTypeStoreSize(type)));
  return builder.CreateCall(runtime.atomic_end,
                            {segment, pointer, ticket, outcome.operation, outcome.order, bytes, old_value.low,
                             old_value.high, new_value.low, new_value.high});
}

}  // namespace cleave
