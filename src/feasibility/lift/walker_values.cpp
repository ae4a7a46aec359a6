// What instructions compute: integers and pointers as expressions, floating point concretely.
#include <bit>
#include <cmath>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Operator.h>

#include "feasibility/lift/walker.h"

namespace cleave {

using namespace llvm;

uint32_t lane_count(Type* type) {
  if (auto* vector = dyn_cast<FixedVectorType>(type)) return vector->getNumElements();
  if (auto* array = dyn_cast<ArrayType>(type)) {
    return static_cast<uint32_t>(array->getNumElements()) * lane_count(array->getElementType());
  }
  if (auto* structure = dyn_cast<StructType>(type)) {
    uint32_t count = 0;
    for (Type* element : structure->elements()) count += lane_count(element);
    return count;
  }
  return 1;
}

uint8_t lane_width(Type* scalar, const DataLayout& layout) {
  if (scalar->isPointerTy()) return 64;
  auto bits = scalar->isSized() ? layout.getTypeSizeInBits(scalar) : TypeSize::getFixed(64);
  return bits.isScalable() || bits.getFixedValue() > 64 ? 64 : static_cast<uint8_t>(bits.getFixedValue());
}

namespace {

void widths(Type* type, const DataLayout& layout, std::vector<uint8_t>* out) {
  if (auto* vector = dyn_cast<FixedVectorType>(type)) {
    out->insert(out->end(), vector->getNumElements(), lane_width(vector->getElementType(), layout));
  } else if (auto* array = dyn_cast<ArrayType>(type)) {
    for (uint64_t i = 0; i < array->getNumElements(); ++i) widths(array->getElementType(), layout, out);
  } else if (auto* structure = dyn_cast<StructType>(type)) {
    for (Type* element : structure->elements()) widths(element, layout, out);
  } else {
    out->push_back(lane_width(type, layout));
  }
}

bool is_wide(Type* type, const DataLayout& layout) {
  Type* scalar = type->getScalarType();
  return !scalar->isPointerTy() && scalar->isSized() && !scalar->isAggregateType() &&
         layout.getTypeSizeInBits(scalar).getKnownMinValue() > 64;
}

// Index of the first lane of a member of an aggregate.
uint32_t first_lane(Type* type, ArrayRef<unsigned> path) {
  uint32_t lane = 0;
  for (unsigned index : path) {
    if (auto* structure = dyn_cast<StructType>(type)) {
      for (unsigned i = 0; i < index; ++i) lane += lane_count(structure->getElementType(i));
      type = structure->getElementType(index);
    } else {
      auto* array = cast<ArrayType>(type);
      lane += index * lane_count(array->getElementType());
      type = array->getElementType();
    }
  }
  return lane;
}

double as_double(const ThreadCursor& lane) {
  return lane.width == 32 ? std::bit_cast<float>(static_cast<uint32_t>(lane.concrete))
                          : std::bit_cast<double>(lane.concrete);
}
uint64_t bits_of(double value, uint8_t width) {
  return width == 32 ? std::bit_cast<uint32_t>(static_cast<float>(value)) : std::bit_cast<uint64_t>(value);
}

}  // namespace

ThreadCursor Walker::known(uint64_t value, uint8_t width) {
  return {pool().constant(value, width), truncate(value, width), width};
}

ThreadCursor Walker::unknown(uint8_t width, std::initializer_list<ThreadCursor> from) {
  for (const ThreadCursor& lane : from) pin(lane);
  return {.width = width};
}

Lanes Walker::unknown_of(Type* type) {
  std::vector<uint8_t> each;
  widths(type, layout(), &each);
  Lanes lanes;
  for (uint8_t width : each) lanes.push_back({.width = width});
  return lanes;
}

// The symbols in it keep the values of the recorded run from the thread's next event on.
void Walker::pin(const ThreadCursor& lane) {
  if (!lane.known() && lane.element != 0) return pin(elements_[lane.element].index);
  if (!lane.known() || pool().is_constant(lane.expression)) return;
  ++context_.report.concretized;
  ++context_.report.pins;
  const bool at_instruction = !frames_.empty() && top().next != top().block->begin();
  ++context_.report.pins_at[at_instruction ? std::prev(top().next)->getOpcodeName() : "none"];
  assume(make(Op::Equal, 1, lane, known(lane.concrete, lane.width)), true);
}

void Walker::assume(const ThreadCursor& condition, bool outcome) {
  if (!condition.known() || condition.invented) return;
  ++context_.report.values_compared;
  if ((condition.concrete != 0) != outcome) {
    mismatch(condition.concrete, outcome);
    return;
  }
  if (pool().is_constant(condition.expression)) return;
  const auto& mine = context_.events[raw(thread_)];
  if (progress_ >= mine.size()) return;  // nothing of the thread comes after
  EventIndex at = id_of<EventIndex>(mine[progress_]);
  ExpressionId wanted = outcome ? condition.expression : pool().negate(condition.expression);
  ExpressionId before = context_.symbolic.condition(at);
  context_.symbolic.assume(at,
                           before == kNone<ExpressionId> ? wanted : pool().make(Op::And, 1, before, wanted));
}

void Walker::count_branch(const ThreadCursor& condition) {
  ++context_.report.branches;
  if (symbolic(condition)) {
    ++context_.report.branches_symbolic;
  } else if (condition.lost) {
    ++context_.report.branches_concretized;
  }
}

ThreadCursor Walker::make(Op op, uint8_t width, const ThreadCursor& a, const ThreadCursor& b) {
  if (!a.known() || !b.known()) return unknown(width, {a, b});
  Expression shape{.op = op, .width = width};
  ThreadCursor result{pool().make(op, width, a.expression, b.expression),
                      truncate(apply(shape, a.concrete, b.concrete, 0, a.width), width), width};
  result.invented = a.invented || b.invented;
  return result;
}

ThreadCursor Walker::choose(const ThreadCursor& condition, const ThreadCursor& a, const ThreadCursor& b) {
  if (!condition.known()) return unknown(a.width, {a, b});
  if (!a.known() || !b.known()) {
    pin(condition);
    ThreadCursor result = condition.concrete ? a : b;
    result.invented = result.invented || condition.invented;
    return result;
  }
  ThreadCursor result = condition.concrete ? a : b;
  if (condition.invented) {
    result.invented = true;  // which of the two it is may be wrong
    return result;
  }
  result.expression = pool().make(Op::Ite, a.width, condition.expression, a.expression, b.expression);
  result.invented = a.invented || b.invented;
  return result;
}

ThreadCursor Walker::scalar(const Value* value) {
  Lanes lanes = operand(value);
  return lanes.empty() ? ThreadCursor{.width = 64} : lanes[0];
}

Lanes Walker::operand(const Value* value) {
  if (auto* constant_value = dyn_cast<Constant>(value)) return constant(constant_value);
  auto it = top().values.find(value);
  if (it == top().values.end()) return unknown_of(value->getType());
  for (const ThreadCursor& lane : it->second) met_symbols_ = met_symbols_ || lane.lost || symbolic(lane);
  return it->second;
}

Lanes Walker::constant(const Constant* value) {
  Type* type = value->getType();
  if (is_wide(type, layout())) return unknown_of(type);
  if (auto* number = dyn_cast<ConstantInt>(value))
    return {known(number->getZExtValue(), lane_width(type, layout()))};
  if (auto* number = dyn_cast<ConstantFP>(value)) {
    return {known(number->getValueAPF().bitcastToAPInt().getZExtValue(), lane_width(type, layout()))};
  }
  if (isa<ConstantPointerNull>(value)) return {known(0, 64)};
  if (isa<ConstantAggregateZero>(value)) {
    Lanes lanes = unknown_of(type);
    for (ThreadCursor& lane : lanes) lane = known(0, lane.width);
    return lanes;
  }
  if (isa<ConstantAggregate>(value) || isa<ConstantDataSequential>(value)) {
    Lanes lanes;
    for (unsigned i = 0; value->getAggregateElement(i) != nullptr; ++i) {
      Lanes part = constant(value->getAggregateElement(i));
      lanes.insert(lanes.end(), part.begin(), part.end());
    }
    return lanes;
  }
  if (type->isPointerTy()) {
    APInt offset(64, 0);
    const Value* base = value->stripAndAccumulateConstantOffsets(layout(), offset, true);
    auto* variable = dyn_cast<GlobalVariable>(base);
    if (variable != nullptr && variable->isConstant() && variable->hasInitializer()) {
      auto [it, fresh] = constants_.emplace(variable, 0);
      if (fresh) {
        it->second = invent(layout().getTypeAllocSize(variable->getValueType()).getFixedValue());
        constants_by_address_[it->second] = variable;
      }
      ThreadCursor address = known(it->second + static_cast<uint64_t>(offset.getSExtValue()), 64);
      address.invented = true;
      return {address};
    }
  }
  return unknown_of(type);
}

void Walker::compute(Instruction& instruction) {
  met_symbols_ = false;
  Lanes result = unknown_of(instruction.getType()->isVoidTy() ? Type::getInt1Ty(instruction.getContext())
                                                              : instruction.getType());
  if (is_wide(instruction.getType(), layout())) {
    for (const Use& use : instruction.operands()) {
      for (const ThreadCursor& lane : operand(use)) pin(lane);
    }
    for (ThreadCursor& lane : result) lane.lost = met_symbols_;
    top().values[&instruction] = std::move(result);
    return;
  }
  auto lanewise = [&](auto combine) {
    Lanes a = operand(instruction.getOperand(0));
    Lanes b = instruction.getNumOperands() > 1 ? operand(instruction.getOperand(1)) : a;
    for (size_t i = 0; i < result.size(); ++i) {
      result[i] = combine(a[std::min(i, a.size() - 1)], b[std::min(i, b.size() - 1)]);
    }
  };
  if (auto* op = dyn_cast<BinaryOperator>(&instruction)) {
    bool real = op->getType()->isFPOrFPVectorTy();
    lanewise([&](const ThreadCursor& a, const ThreadCursor& b) {
      return real ? floating(op->getOpcode(), a, b) : binary(*op, a, b);
    });
  } else if (auto* op = dyn_cast<UnaryOperator>(&instruction)) {
    lanewise([&](const ThreadCursor& a, const ThreadCursor&) {  // fneg flips the sign bit
      return make(Op::Xor, a.width, a, known(uint64_t{1} << (a.width - 1), a.width));
    });
    (void)op;
  } else if (auto* cmp = dyn_cast<CmpInst>(&instruction)) {
    lanewise([&](const ThreadCursor& a, const ThreadCursor& b) { return compare(*cmp, a, b); });
  } else if (auto* cast_op = dyn_cast<CastInst>(&instruction)) {
    Lanes from = operand(cast_op->getOperand(0));
    bool same_shape = from.size() == result.size() && !is_wide(cast_op->getSrcTy(), layout());
    for (size_t i = 0; i < result.size(); ++i) {
      result[i] = same_shape ? cast_lane(*cast_op, from[i], result[i].width) : result[i];
    }
    if (!same_shape)
      for (const ThreadCursor& lane : from) pin(lane);
  } else if (auto* gep = dyn_cast<GetElementPtrInst>(&instruction)) {
    if (result.size() == 1) result[0] = element_address(*gep);
  } else if (auto* select = dyn_cast<SelectInst>(&instruction)) {
    Lanes condition = operand(select->getCondition()), a = operand(select->getTrueValue()),
          b = operand(select->getFalseValue());
    for (size_t i = 0; i < result.size(); ++i) {
      result[i] = choose(condition[std::min(i, condition.size() - 1)], a[i], b[i]);
    }
  } else if (auto* extract = dyn_cast<ExtractValueInst>(&instruction)) {
    Lanes from = operand(extract->getAggregateOperand());
    uint32_t first = first_lane(extract->getAggregateOperand()->getType(), extract->getIndices());
    for (size_t i = 0; i < result.size(); ++i) result[i] = from[first + i];
  } else if (auto* insert = dyn_cast<InsertValueInst>(&instruction)) {
    result = operand(insert->getAggregateOperand());
    Lanes part = operand(insert->getInsertedValueOperand());
    uint32_t first = first_lane(insert->getType(), insert->getIndices());
    for (size_t i = 0; i < part.size(); ++i) result[first + i] = part[i];
  } else if (auto* element = dyn_cast<ExtractElementInst>(&instruction)) {
    Lanes from = operand(element->getVectorOperand());
    ThreadCursor index = scalar(element->getIndexOperand());
    if (index.known()) pin(index);
    if (index.known() && index.concrete < from.size()) result[0] = from[index.concrete];
  } else if (auto* element = dyn_cast<InsertElementInst>(&instruction)) {
    result = operand(element->getOperand(0));
    ThreadCursor index = scalar(element->getOperand(2));
    if (index.known()) pin(index);
    if (index.known() && index.concrete < result.size())
      result[index.concrete] = scalar(element->getOperand(1));
  } else if (auto* shuffle = dyn_cast<ShuffleVectorInst>(&instruction)) {
    Lanes a = operand(shuffle->getOperand(0)), b = operand(shuffle->getOperand(1));
    for (size_t i = 0; i < result.size(); ++i) {
      int from = shuffle->getMaskValue(static_cast<unsigned>(i));
      if (from >= 0) result[i] = static_cast<size_t>(from) < a.size() ? a[from] : b[from - a.size()];
    }
  } else if (isa<FreezeInst>(instruction)) {
    result = operand(instruction.getOperand(0));
  } else {
    context_.not_modelled.insert(instruction.getOpcodeName());
    for (const Use& use : instruction.operands()) {
      for (const ThreadCursor& lane : operand(use)) pin(lane);
    }
  }
  for (ThreadCursor& lane : result) lane.lost = lane.lost || (met_symbols_ && !symbolic(lane));
  if (!instruction.getType()->isVoidTy()) top().values[&instruction] = std::move(result);
}

ThreadCursor Walker::binary(BinaryOperator& op, const ThreadCursor& a, const ThreadCursor& b) {
  switch (op.getOpcode()) {
    case Instruction::Add:
      return make(Op::Add, a.width, a, b);
    case Instruction::Sub:
      return make(Op::Subtract, a.width, a, b);
    case Instruction::Mul:
      return make(Op::Multiply, a.width, a, b);
    case Instruction::UDiv:
      return make(Op::UnsignedDivide, a.width, a, b);
    case Instruction::SDiv:
      return make(Op::SignedDivide, a.width, a, b);
    case Instruction::URem:
      return make(Op::UnsignedRemainder, a.width, a, b);
    case Instruction::SRem:
      return make(Op::SignedRemainder, a.width, a, b);
    case Instruction::And:
      return make(Op::And, a.width, a, b);
    case Instruction::Or:
      return make(Op::Or, a.width, a, b);
    case Instruction::Xor:
      return make(Op::Xor, a.width, a, b);
    case Instruction::Shl:
      return make(Op::ShiftLeft, a.width, a, b);
    case Instruction::LShr:
      return make(Op::LogicalShiftRight, a.width, a, b);
    case Instruction::AShr:
      return make(Op::ArithmeticShiftRight, a.width, a, b);
    default:
      return unknown(a.width, {a, b});
  }
}

// Floating point has its recorded operands: the symbols behind them are pinned.
ThreadCursor Walker::floating(unsigned opcode, const ThreadCursor& a, const ThreadCursor& b) {
  pin(a);
  pin(b);
  if (!a.known() || !b.known() || (a.width != 32 && a.width != 64)) return unknown(a.width);
  double x = as_double(a), y = as_double(b);
  auto rounded = [&](double value) { return known(bits_of(value, a.width), a.width); };
  if (a.width == 32) {
    float fx = static_cast<float>(x), fy = static_cast<float>(y);
    switch (opcode) {
      case Instruction::FAdd:
        return rounded(fx + fy);
      case Instruction::FSub:
        return rounded(fx - fy);
      case Instruction::FMul:
        return rounded(fx * fy);
      case Instruction::FDiv:
        return rounded(fx / fy);
      case Instruction::FRem:
        return rounded(std::fmod(fx, fy));
      default:
        return unknown(a.width);
    }
  }
  switch (opcode) {
    case Instruction::FAdd:
      return rounded(x + y);
    case Instruction::FSub:
      return rounded(x - y);
    case Instruction::FMul:
      return rounded(x * y);
    case Instruction::FDiv:
      return rounded(x / y);
    case Instruction::FRem:
      return rounded(std::fmod(x, y));
    default:
      return unknown(a.width);
  }
}

ThreadCursor Walker::compare(CmpInst& cmp, const ThreadCursor& a, const ThreadCursor& b) {
  if (isa<FCmpInst>(cmp)) {
    pin(a);
    pin(b);
    if (!a.known() || !b.known() || (a.width != 32 && a.width != 64)) return unknown(1);
    return known(FCmpInst::compare(APFloat(as_double(a)), APFloat(as_double(b)), cmp.getPredicate()), 1);
  }
  auto negated = [&](const ThreadCursor& lane) { return make(Op::Xor, 1, lane, known(1, 1)); };
  switch (cmp.getPredicate()) {
    case CmpInst::ICMP_EQ:
      return make(Op::Equal, 1, a, b);
    case CmpInst::ICMP_NE:
      return negated(make(Op::Equal, 1, a, b));
    case CmpInst::ICMP_ULT:
      return make(Op::UnsignedLess, 1, a, b);
    case CmpInst::ICMP_ULE:
      return make(Op::UnsignedLessEqual, 1, a, b);
    case CmpInst::ICMP_UGT:
      return make(Op::UnsignedLess, 1, b, a);
    case CmpInst::ICMP_UGE:
      return make(Op::UnsignedLessEqual, 1, b, a);
    case CmpInst::ICMP_SLT:
      return make(Op::SignedLess, 1, a, b);
    case CmpInst::ICMP_SLE:
      return make(Op::SignedLessEqual, 1, a, b);
    case CmpInst::ICMP_SGT:
      return make(Op::SignedLess, 1, b, a);
    case CmpInst::ICMP_SGE:
      return make(Op::SignedLessEqual, 1, b, a);
    default:
      return unknown(1, {a, b});
  }
}

ThreadCursor Walker::cast_lane(CastInst& cast, const ThreadCursor& a, uint8_t to) {
  if (!a.known()) return unknown(to, {a});
  ThreadCursor result = a;
  result.width = to;
  switch (cast.getOpcode()) {
    case Instruction::ZExt:
      result.expression = pool().make(Op::ZeroExtend, to, a.expression);
      return result;
    case Instruction::SExt:
      result.expression = pool().make(Op::SignExtend, to, a.expression);
      result.concrete = truncate(static_cast<uint64_t>(sign_extend(a.concrete, a.width)), to);
      return result;
    case Instruction::Trunc:
      result.expression = pool().make(Op::Extract, to, a.expression);
      result.concrete = truncate(a.concrete, to);
      return result;
    case Instruction::BitCast:
    case Instruction::PtrToInt:
    case Instruction::IntToPtr:
      if (a.width == to) return result;
      result.expression = pool().make(a.width < to ? Op::ZeroExtend : Op::Extract, to, a.expression);
      result.concrete = truncate(a.concrete, to);
      return result;
    default:
      break;
  }
  pin(a);
  switch (cast.getOpcode()) {
    case Instruction::SIToFP: {
      auto number = sign_extend(a.concrete, a.width);
      return known(to == 32 ? std::bit_cast<uint32_t>(static_cast<float>(number))
                            : bits_of(static_cast<double>(number), to),
                   to);
    }
    case Instruction::UIToFP:
      return known(to == 32 ? std::bit_cast<uint32_t>(static_cast<float>(a.concrete))
                            : bits_of(static_cast<double>(a.concrete), to),
                   to);
    case Instruction::FPExt:
    case Instruction::FPTrunc:
      if (a.width < 32 || to < 32) return unknown(to);
      return known(bits_of(as_double(a), to), to);
    case Instruction::FPToSI: {
      double value = as_double(a);
      if (!(std::abs(value) < 9e18)) return unknown(to);
      return known(static_cast<uint64_t>(static_cast<int64_t>(value)), to);
    }
    case Instruction::FPToUI: {
      double value = as_double(a);
      if (!(value > -1 && value < 1.8e19)) return unknown(to);
      return known(static_cast<uint64_t>(value), to);
    }
    default:
      return unknown(to);
  }
}

}  // namespace cleave
