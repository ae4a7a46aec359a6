// Intrinsics: as expressions where they are arithmetic in disguise; computed concretely where a constant
// folder would.
#include <bit>

#include "feasibility/lift/walker.h"

namespace cleave {

using namespace llvm;

// The high (fshl) or low (fshr) word of a and b, side by side, shifted; a rotation when they are equal.
ThreadCursor Walker::funnel_shift(bool left, const ThreadCursor& a, const ThreadCursor& b,
                                  const ThreadCursor& amount) {
  const uint8_t w = a.width;
  ThreadCursor by = make(Op::UnsignedRemainder, w, amount, known(w, w));
  ThreadCursor rest = make(Op::Subtract, w, known(w, w), by);  // shifting by all of the width gives 0
  if (left) return make(Op::Or, w, make(Op::ShiftLeft, w, a, by), make(Op::LogicalShiftRight, w, b, rest));
  return make(Op::Or, w, make(Op::ShiftLeft, w, a, rest), make(Op::LogicalShiftRight, w, b, by));
}

ThreadCursor Walker::swapped_bytes(const ThreadCursor& a) {
  if (!a.known() || a.width % 8 != 0) return unknown(a.width, {a});
  ThreadCursor result = known(0, a.width);
  for (uint8_t low = 0; low < a.width; low = static_cast<uint8_t>(low + 8)) {
    ThreadCursor byte = make(Op::And, a.width, make(Op::LogicalShiftRight, a.width, a, known(low, a.width)),
                             known(255, a.width));
    result =
        make(Op::Or, a.width, result, make(Op::ShiftLeft, a.width, byte, known(a.width - 8u - low, a.width)));
  }
  return result;
}

// The sum or difference, and whether it did not fit.
Lanes Walker::with_overflow(Intrinsic::ID id, const ThreadCursor& a, const ThreadCursor& b) {
  const uint8_t w = a.width;
  const bool adds = id == Intrinsic::sadd_with_overflow || id == Intrinsic::uadd_with_overflow;
  ThreadCursor result = make(adds ? Op::Add : Op::Subtract, w, a, b);
  if (id == Intrinsic::uadd_with_overflow) return {result, make(Op::UnsignedLess, 1, result, a)};
  if (id == Intrinsic::usub_with_overflow) return {result, make(Op::UnsignedLess, 1, a, b)};
  ThreadCursor sign =
      make(Op::And, w, make(Op::Xor, w, a, result), make(Op::Xor, w, adds ? b : a, adds ? result : b));
  return {result, make(Op::SignedLess, 1, sign, known(0, w))};
}

// The unsigned sum or difference, or the limit where it does not fit.
ThreadCursor Walker::saturated(bool adds, const ThreadCursor& a, const ThreadCursor& b) {
  ThreadCursor result = make(adds ? Op::Add : Op::Subtract, a.width, a, b);
  if (adds) return choose(make(Op::UnsignedLess, 1, result, a), known(UINT64_MAX, a.width), result);
  return choose(make(Op::UnsignedLess, 1, a, b), known(0, a.width), result);
}

// Not an expression: the symbols that go in are pinned. Always true.
bool Walker::folded(IntrinsicInst& call) {
  const Intrinsic::ID id = call.getIntrinsicID();
  met_symbols_ = false;
  Lanes result = unknown_of(call.getType());
  Lanes a = operand(call.getArgOperand(0));
  for (const Use& use : call.args()) {
    for (const ThreadCursor& lane : operand(use)) pin(lane);
  }
  if (result.size() == 1 && a.size() == 1 && !wide(*call.getArgOperand(0)) && a[0].known() &&
      a[0].width == result[0].width) {
    uint64_t v = a[0].concrete;
    uint8_t w = a[0].width;
    if (id == Intrinsic::ctpop)
      result[0] = known(static_cast<uint64_t>(std::popcount(v)), w);
    else if (id == Intrinsic::ctlz)
      result[0] = known(v == 0 ? w : static_cast<uint64_t>(std::countl_zero(v)) - (64 - w), w);
    else if (id == Intrinsic::cttz)
      result[0] = known(v == 0 ? w : static_cast<uint64_t>(std::countr_zero(v)), w);
    else
      context_.not_modelled.insert(Intrinsic::getBaseName(id).str());
  } else {
    context_.not_modelled.insert(Intrinsic::getBaseName(id).str());
  }
  for (ThreadCursor& lane : result) lane.lost = met_symbols_;
  top().values[&call] = std::move(result);
  return true;
}

// Beyond what an expression holds.
bool Walker::wide(const Value& value) {
  Type* scalar = value.getType()->getScalarType();
  return scalar->isIntegerTy() && scalar->getIntegerBitWidth() > 64;
}

// True when the call is done with.
bool Walker::intrinsic(IntrinsicInst& call) {
  if (auto* transfer = dyn_cast<AnyMemTransferInst>(&call)) return copy(*transfer), true;
  if (auto* set = dyn_cast<AnyMemSetInst>(&call)) return fill(*set), true;
  if (call.getType()->isVoidTy()) return true;
  if (call.arg_size() > 0 && wide(*call.getArgOperand(0))) return folded(call);
  Intrinsic::ID id = call.getIntrinsicID();
  Lanes result = unknown_of(call.getType());
  auto each = [&](auto combine) {
    Lanes a = operand(call.getArgOperand(0)), b = call.arg_size() > 1 ? operand(call.getArgOperand(1)) : a;
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = combine(a[std::min(i, a.size() - 1)], b[std::min(i, b.size() - 1)]);
  };
  auto smaller = [&](Op less) {
    each([&](const ThreadCursor& a, const ThreadCursor& b) { return choose(make(less, 1, a, b), a, b); });
  };
  auto larger = [&](Op less) {
    each([&](const ThreadCursor& a, const ThreadCursor& b) { return choose(make(less, 1, a, b), b, a); });
  };
  switch (id) {
    case Intrinsic::smin:
      smaller(Op::SignedLess);
      break;
    case Intrinsic::umin:
      smaller(Op::UnsignedLess);
      break;
    case Intrinsic::smax:
      larger(Op::SignedLess);
      break;
    case Intrinsic::umax:
      larger(Op::UnsignedLess);
      break;
    case Intrinsic::expect:
    case Intrinsic::launder_invariant_group:
    case Intrinsic::strip_invariant_group:
    case Intrinsic::ptr_annotation:
      result = operand(call.getArgOperand(0));
      break;
    case Intrinsic::abs:
      each([&](const ThreadCursor& a, const ThreadCursor&) {
        return choose(make(Op::SignedLess, 1, a, known(0, a.width)),
                      make(Op::Subtract, a.width, known(0, a.width), a), a);
      });
      break;
    case Intrinsic::fshl:
    case Intrinsic::fshr:
      if (result.size() != 1) return folded(call);
      result[0] = funnel_shift(id == Intrinsic::fshl, scalar(call.getArgOperand(0)),
                               scalar(call.getArgOperand(1)), scalar(call.getArgOperand(2)));
      break;
    case Intrinsic::bswap:
      each([&](const ThreadCursor& a, const ThreadCursor&) { return swapped_bytes(a); });
      break;
    case Intrinsic::uadd_sat:
    case Intrinsic::usub_sat:
      each([&](const ThreadCursor& a, const ThreadCursor& b) {
        return saturated(id == Intrinsic::uadd_sat, a, b);
      });
      break;
    case Intrinsic::sadd_with_overflow:
    case Intrinsic::uadd_with_overflow:
    case Intrinsic::ssub_with_overflow:
    case Intrinsic::usub_with_overflow:
      if (result.size() != 2) return folded(call);
      result = with_overflow(id, scalar(call.getArgOperand(0)), scalar(call.getArgOperand(1)));
      break;
    case Intrinsic::fmuladd: {  // x86-64 without FMA multiplies, then adds
      Lanes a = operand(call.getArgOperand(0)), b = operand(call.getArgOperand(1)),
            c = operand(call.getArgOperand(2));
      for (size_t i = 0; i < result.size(); ++i) {
        result[i] = floating(Instruction::FAdd, floating(Instruction::FMul, a[i], b[i]), c[i]);
      }
      break;
    }
    default:
      return folded(call);
  }
  top().values[&call] = std::move(result);
  return true;
}

}  // namespace cleave
