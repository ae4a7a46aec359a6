#include "feasibility/solve/z3_terms.h"

#include <string>

namespace cleave {

z3::sort Z3Terms::sort(uint8_t width) {
  if (width == kInteger) return context_.int_sort();
  return width == 1 ? context_.bool_sort() : context_.bv_sort(width);
}

z3::expr Z3Terms::symbol(SymbolId id) {
  auto it = symbols_.find(raw(id));
  if (it == symbols_.end()) {
    std::string name = "s" + std::to_string(raw(id));
    it = symbols_.emplace(raw(id), context_.constant(name.c_str(), sort(trace_.symbol(id).width))).first;
  }
  return it->second;
}

z3::expr Z3Terms::fresh(const char* prefix, uint8_t width) {
  std::string name = std::string(prefix) + "!" + std::to_string(fresh_++);
  return context_.constant(name.c_str(), sort(width));
}

z3::expr Z3Terms::term(ExpressionId root) {
  const ExpressionPool& pool = trace_.pool();
  if (raw(root) >= pool.size()) throw NotModelled("a value that no expression describes");
  std::vector<ExpressionId> open{root};
  while (!open.empty()) {  // children first, without recursion
    ExpressionId next = open.back();
    if (terms_.contains(raw(next))) {
      open.pop_back();
      continue;
    }
    const Expression& e = pool[next];
    bool ready = true;
    for (ExpressionId child : {e.a, e.b, e.c}) {
      if (child != kNone<ExpressionId> && !terms_.contains(raw(child))) {
        open.push_back(child);
        ready = false;
      }
    }
    if (!ready) continue;
    open.pop_back();
    terms_.emplace(raw(next), convert(e));
  }
  return terms_.at(raw(root));
}

z3::expr Z3Terms::bits(ExpressionId id) {
  z3::expr e = terms_.at(raw(id));
  return e.is_bool() ? z3::ite(e, context_.bv_val(1, 1), context_.bv_val(0, 1)) : e;
}

z3::expr Z3Terms::convert(const Expression& e) {
  if (e.op == Op::Constant) {
    if (e.width == 1) return context_.bool_val(e.value != 0);
    if (e.width == kInteger) return context_.int_val(static_cast<int64_t>(e.value));
    return context_.bv_val(e.value, e.width);
  }
  if (e.op == Op::Symbol) return symbol(SymbolId{static_cast<uint32_t>(e.value)});
  z3::expr a = terms_.at(raw(e.a));
  z3::expr b = e.b == kNone<ExpressionId> ? a : terms_.at(raw(e.b));
  const bool truth = e.width == 1, integer = a.is_int();
  switch (e.op) {
    case Op::Add:
      return a + b;
    case Op::Subtract:
      return a - b;
    case Op::Multiply:
      return a * b;
    case Op::UnsignedDivide:
      return z3::udiv(a, b);
    case Op::SignedDivide:
      return a / b;  // on bit-vectors this is signed, on Int SMT-LIB's div
    case Op::UnsignedRemainder:
      return z3::urem(a, b);
    case Op::SignedRemainder:
      return integer ? z3::mod(a, b) : z3::srem(a, b);
    case Op::And:
      return truth ? (a && b) : (a & b);
    case Op::Or:
      return truth ? (a || b) : (a | b);
    case Op::Xor:
      return truth ? (a != b) : (a ^ b);
    case Op::ShiftLeft:
      return z3::shl(a, b);
    case Op::LogicalShiftRight:
      return z3::lshr(a, b);
    case Op::ArithmeticShiftRight:
      return z3::ashr(a, b);
    case Op::Equal:
      return a == b;
    case Op::UnsignedLess:
      return a.is_bool() ? (!a && b) : z3::ult(a, b);
    case Op::UnsignedLessEqual:
      return a.is_bool() ? (!a || b) : z3::ule(a, b);
    case Op::SignedLess:
      return a.is_bool() ? (a && !b) : a < b;
    case Op::SignedLessEqual:
      return a.is_bool() ? (a || !b) : a <= b;
    case Op::Ite:
      return z3::ite(a, b, terms_.at(raw(e.c)));
    case Op::ZeroExtend: {
      z3::expr inner = bits(e.a);
      return z3::zext(inner, e.width - inner.get_sort().bv_size());
    }
    case Op::SignExtend: {
      z3::expr inner = bits(e.a);
      return z3::sext(inner, e.width - inner.get_sort().bv_size());
    }
    case Op::Extract: {
      z3::expr part = bits(e.a).extract(e.low + e.width - 1, e.low);
      return truth ? part == context_.bv_val(1, 1) : part;
    }
    case Op::Concat:
      return z3::concat(bits(e.a), bits(e.b));
    default:
      break;
  }
  CLEAVE_CHECK(false, "an operation without a solver term");
  return a;
}

}  // namespace cleave
