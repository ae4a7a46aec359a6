#include "feasibility/lift/expression.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace cleave {
namespace {

constexpr std::array<std::string_view, 25> kBitVectorNames = {
    "",      "",      "bvadd", "bvsub",       "bvmul",       "bvudiv",  "bvsdiv", "bvurem", "bvsrem",
    "bvand", "bvor",  "bvxor", "bvshl",       "bvlshr",      "bvashr",  "=",      "bvult",  "bvule",
    "bvslt", "bvsle", "ite",   "zero_extend", "sign_extend", "extract", "concat"};

std::string_view integer_name(Op op) {
  switch (op) {
    case Op::Add:
      return "+";
    case Op::Subtract:
      return "-";
    case Op::Multiply:
      return "*";
    case Op::SignedDivide:
      return "div";
    case Op::SignedRemainder:
      return "mod";
    case Op::SignedLess:
      return "<";
    case Op::SignedLessEqual:
      return "<=";
    default:
      return kBitVectorNames[static_cast<size_t>(op)];
  }
}

int64_t divide(int64_t a, int64_t b) {
  if (b == -1) return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
  return a / b;
}
int64_t remainder(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }

// SMT-LIB's div and mod on integers: the remainder is never negative.
int64_t floor_mod(int64_t a, int64_t b) {
  int64_t r = remainder(a, b);
  return r < 0 ? r + (b < 0 ? -b : b) : r;
}
int64_t floor_div(int64_t a, int64_t b) { return divide(a - floor_mod(a, b), b); }

bool comparison(Op op) { return op >= Op::Equal && op <= Op::SignedLessEqual; }

}  // namespace

uint64_t apply(const Expression& e, uint64_t a, uint64_t b, uint64_t c, uint8_t w) {
  const int64_t sa = sign_extend(a, w), sb = sign_extend(b, w);
  const uint64_t ones = truncate(~uint64_t{0}, w);
  switch (e.op) {
    case Op::Constant:
    case Op::Symbol:
      return e.value;
    case Op::Add:
      return truncate(a + b, w);
    case Op::Subtract:
      return truncate(a - b, w);
    case Op::Multiply:
      return truncate(a * b, w);
    case Op::UnsignedDivide:
      return b == 0 ? ones : a / b;
    case Op::SignedDivide:
      if (b == 0) return w == kInteger ? 0 : sa < 0 ? 1 : ones;
      return truncate(static_cast<uint64_t>(w == kInteger ? floor_div(sa, sb) : divide(sa, sb)), w);
    case Op::UnsignedRemainder:
      return b == 0 ? a : a % b;
    case Op::SignedRemainder:
      if (b == 0) return a;
      return truncate(static_cast<uint64_t>(w == kInteger ? floor_mod(sa, sb) : remainder(sa, sb)), w);
    case Op::And:
      return a & b;
    case Op::Or:
      return a | b;
    case Op::Xor:
      return a ^ b;
    case Op::ShiftLeft:
      return b >= (w == kInteger ? 64 : w) ? 0 : truncate(a << b, w);
    case Op::LogicalShiftRight:
      return b >= (w == kInteger ? 64 : w) ? 0 : a >> b;
    case Op::ArithmeticShiftRight:
      return truncate(static_cast<uint64_t>(sa >> std::min<uint64_t>(b, 63)), w);
    case Op::Equal:
      return a == b;
    case Op::UnsignedLess:
      return a < b;
    case Op::UnsignedLessEqual:
      return a <= b;
    case Op::SignedLess:
      return sa < sb;
    case Op::SignedLessEqual:
      return sa <= sb;
    case Op::Ite:
      return a ? b : c;
    case Op::ZeroExtend:
      return a;
    case Op::SignExtend:
      return truncate(static_cast<uint64_t>(sign_extend(a, w)), e.width);
    case Op::Extract:
      return truncate(a >> e.low, e.width);
    case Op::Concat:
      return truncate(a << e.low | b, e.width);  // low: width of b
  }
  return 0;
}

size_t ExpressionPool::Hash::operator()(const Expression& e) const {
  uint64_t h = static_cast<uint64_t>(e.op) | uint64_t{e.width} << 8 | uint64_t{e.low} << 16;
  for (uint64_t part : {uint64_t{raw(e.a)}, uint64_t{raw(e.b)}, uint64_t{raw(e.c)}, e.value}) {
    h = (h ^ part) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 29;
  }
  return h;
}

ExpressionId ExpressionPool::intern(const Expression& expression) {
  auto [it, fresh] = ids_.emplace(expression, static_cast<uint32_t>(nodes_.size()));
  if (fresh) {
    nodes_.push_back(expression);
    uint32_t only = raw(kNone<SymbolId>);
    if (expression.op == Op::Symbol) only = static_cast<uint32_t>(expression.value);
    for (ExpressionId child : {expression.a, expression.b, expression.c}) {
      if (child == kNone<ExpressionId> || only_[raw(child)] == raw(kNone<SymbolId>)) continue;
      only = only == raw(kNone<SymbolId>) || only == only_[raw(child)] ? only_[raw(child)] : kMany;
    }
    only_.push_back(only);
  }
  return ExpressionId{it->second};
}

ExpressionId ExpressionPool::constant(uint64_t value, uint8_t width) {
  return intern({.op = Op::Constant, .width = width, .value = truncate(value, width)});
}

ExpressionId ExpressionPool::symbol(SymbolId symbol, uint8_t width) {
  return intern({.op = Op::Symbol, .width = width, .value = raw(symbol)});
}

ExpressionId ExpressionPool::make(Op op, uint8_t width, ExpressionId a, ExpressionId b, ExpressionId c,
                                  uint16_t low) {
  return fold({.op = op, .width = width, .low = low, .a = a, .b = b, .c = c});
}

// The order of the rules matters only for speed: all of them are equalities.
ExpressionId ExpressionPool::fold(const Expression& e) {
  const Expression a = (*this)[e.a];
  const bool has_b = e.b != kNone<ExpressionId>, has_c = e.c != kNone<ExpressionId>;
  const bool b_constant = has_b && is_constant(e.b);
  const uint64_t b_value = b_constant ? (*this)[e.b].value : 0;
  if (a.op == Op::Constant && (!has_b || b_constant) && (!has_c || is_constant(e.c))) {
    uint64_t c_value = has_c ? (*this)[e.c].value : 0;
    return constant(apply(e, a.value, b_value, c_value, a.width), e.width);
  }
  switch (e.op) {
    case Op::Add:
      if (a.op == Op::Constant) return make(Op::Add, e.width, e.b, e.a);  // constants to the right
      if (b_constant && b_value == 0) return e.a;
      if (b_constant && a.op == Op::Add && is_constant(a.b)) {
        uint64_t sum = (*this)[a.b].value + b_value;
        return make(Op::Add, e.width, a.a, constant(sum, e.width));
      }
      break;
    case Op::Subtract:
      if (e.a == e.b) return constant(0, e.width);
      if (b_constant) return make(Op::Add, e.width, e.a, constant(0 - b_value, e.width));
      break;
    case Op::Multiply:
      if (a.op == Op::Constant) return make(Op::Multiply, e.width, e.b, e.a);
      if (b_constant && b_value == 1) return e.a;
      if (b_constant && b_value == 0) return e.b;
      break;
    case Op::And:
    case Op::Or:
      if (e.a == e.b) return e.a;
      if (a.op == Op::Constant) return make(e.op, e.width, e.b, e.a);
      if (b_constant && b_value == 0) return e.op == Op::And ? e.b : e.a;
      if (b_constant && e.width != kInteger && b_value == truncate(~uint64_t{0}, e.width)) {
        return e.op == Op::And ? e.a : e.b;
      }
      break;
    case Op::Xor:
      if (e.a == e.b) return constant(0, e.width);
      if (a.op == Op::Constant) return make(Op::Xor, e.width, e.b, e.a);
      if (b_constant && b_value == 0) return e.a;
      if (b_constant && a.op == Op::Xor && a.b == e.b) return a.a;  // not not x
      break;
    case Op::Equal:
      if (e.a == e.b) return truth(true);
      if (a.op == Op::Constant && !b_constant) return make(Op::Equal, 1, e.b, e.a);
      if (b_constant && a.width == 1) return b_value ? e.a : negate(e.a);
      if (b_constant && a.op == Op::ZeroExtend) {
        uint8_t inner = (*this)[a.a].width;
        if (b_value != truncate(b_value, inner)) return truth(false);
        return make(Op::Equal, 1, a.a, constant(b_value, inner));
      }
      break;
    case Op::UnsignedLess:
    case Op::SignedLess:
      if (e.a == e.b) return truth(false);
      break;
    case Op::UnsignedLessEqual:
    case Op::SignedLessEqual:
      if (e.a == e.b) return truth(true);
      break;
    case Op::Ite:
      if (a.op == Op::Constant) return a.value ? e.b : e.c;
      if (e.b == e.c) return e.b;
      break;
    case Op::ZeroExtend:
    case Op::SignExtend:
      if (a.width == e.width) return e.a;
      if (a.op == Op::ZeroExtend) return make(Op::ZeroExtend, e.width, a.a);
      break;
    case Op::Extract:
      if (e.low == 0 && a.width == e.width) return e.a;
      if (e.low == 0 && (a.op == Op::ZeroExtend || a.op == Op::SignExtend)) {
        uint8_t inner = (*this)[a.a].width;
        if (inner == e.width) return a.a;
        if (inner < e.width) return make(a.op, e.width, a.a);
        return make(Op::Extract, e.width, a.a);
      }
      break;
    default:
      break;
  }
  return intern(e);
}

std::vector<SymbolId> SymbolCollector::fresh(ExpressionId id) {
  std::vector<SymbolId> found;
  std::vector<ExpressionId> open{id};
  while (!open.empty()) {
    ExpressionId next = open.back();
    open.pop_back();
    if (pool_.is_constant(next) || !seen_.insert(raw(next)).second) continue;
    const Expression& e = pool_[next];
    if (e.op == Op::Symbol) found.push_back(SymbolId{static_cast<uint32_t>(e.value)});
    for (ExpressionId child : {e.a, e.b, e.c}) {
      if (child != kNone<ExpressionId>) open.push_back(child);
    }
  }
  return found;
}

std::vector<SymbolId> ExpressionPool::symbols(ExpressionId id) const {
  if (SymbolId only = only_symbol(id); only != kNone<SymbolId>) return {only};
  std::vector<SymbolId> found = SymbolCollector(*this).fresh(id);
  std::sort(found.begin(), found.end());
  return found;
}

uint64_t ExpressionPool::evaluate(ExpressionId id, std::span<const uint64_t> values) const {
  boost::unordered_flat_map<uint32_t, uint64_t> known;
  std::vector<ExpressionId> open{id};
  while (!open.empty()) {  // children first, without recursion: paths can be long
    ExpressionId next = open.back();
    const Expression& e = (*this)[next];
    if (known.contains(raw(next))) {
      open.pop_back();
      continue;
    }
    bool ready = true;
    for (ExpressionId child : {e.a, e.b, e.c}) {
      if (child != kNone<ExpressionId> && !known.contains(raw(child))) {
        open.push_back(child);
        ready = false;
      }
    }
    if (!ready) continue;
    open.pop_back();
    if (e.op == Op::Symbol) {
      known[raw(next)] = truncate(values[e.value], e.width);
      continue;
    }
    auto value_of = [&](ExpressionId child) {
      return child == kNone<ExpressionId> ? 0 : known.at(raw(child));
    };
    uint8_t operand_width = e.a == kNone<ExpressionId> ? e.width : (*this)[e.a].width;
    uint64_t value = apply(e, value_of(e.a), value_of(e.b), value_of(e.c), operand_width);
    known[raw(next)] = value;
  }
  return known.at(raw(id));
}

std::string ExpressionPool::print(ExpressionId id, std::span<const std::string> names) const {
  const Expression& e = (*this)[id];
  auto part = [&](ExpressionId child) { return print(child, names); };
  switch (e.op) {
    case Op::Constant:
      if (e.width == 1) return e.value ? "true" : "false";
      if (e.width == kInteger) {
        auto value = static_cast<int64_t>(e.value);
        return value < 0 ? fmt::format("(- {})", 0 - e.value) : fmt::format("{}", value);
      }
      return fmt::format("(_ bv{} {})", e.value, e.width);
    case Op::Symbol:
      return names[e.value];
    case Op::Ite:
      return fmt::format("(ite {} {} {})", part(e.a), part(e.b), part(e.c));
    case Op::ZeroExtend:
    case Op::SignExtend:
      return fmt::format("((_ {} {}) {})", kBitVectorNames[static_cast<size_t>(e.op)],
                         e.width - (*this)[e.a].width, part(e.a));
    case Op::Extract:
      return fmt::format("((_ extract {} {}) {})", e.low + e.width - 1, e.low, part(e.a));
    case Op::Xor:
      if (e.width == 1 && is_constant(e.b)) return fmt::format("(not {})", part(e.a));
      if (e.width == 1) return fmt::format("(xor {} {})", part(e.a), part(e.b));
      break;
    case Op::And:
    case Op::Or:
      if (e.width == 1)
        return fmt::format("({} {} {})", e.op == Op::And ? "and" : "or", part(e.a), part(e.b));
      break;
    default:
      break;
  }
  bool integers = (comparison(e.op) ? (*this)[e.a].width : e.width) == kInteger;
  std::string_view name = integers ? integer_name(e.op) : kBitVectorNames[static_cast<size_t>(e.op)];
  return fmt::format("({} {} {})", name, part(e.a), part(e.b));
}

}  // namespace cleave
