// The program's data as expressions: a DAG in an arena, equal expressions share one node. No solver type
// here, so that lifting, slicing and the judge of a model do not depend on one.
//
// A width of 1 to 64 is a bit-vector (1 is also the sort of conditions); 0 is a mathematical integer, as text
// traces use them. Evaluation works on 64-bit words; integers wrap at 64 bits there.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "base/ids.h"
#include "base/result.h"

namespace cleave {

enum class ExpressionId : uint32_t {};
enum class SymbolId : uint32_t {};  // a value that is not fixed: what a read returned, an input

inline constexpr uint8_t kInteger = 0;  // width of mathematical integers

enum class Op : uint8_t {
  Constant,
  Symbol,
  Add,
  Subtract,
  Multiply,
  UnsignedDivide,
  SignedDivide,
  UnsignedRemainder,
  SignedRemainder,
  And,
  Or,
  Xor,
  ShiftLeft,
  LogicalShiftRight,
  ArithmeticShiftRight,
  Equal,
  UnsignedLess,
  UnsignedLessEqual,
  SignedLess,
  SignedLessEqual,
  Ite,
  ZeroExtend,
  SignExtend,
  Extract,
  Concat,
};

struct Expression {
  Op op;
  uint8_t width;     // of the result
  uint16_t low = 0;  // Extract: lowest bit taken
  ExpressionId a = kNone<ExpressionId>, b = kNone<ExpressionId>, c = kNone<ExpressionId>;
  uint64_t value = 0;  // Constant: its bits; Symbol: its SymbolId
  friend bool operator==(const Expression&, const Expression&) = default;
};

class ExpressionPool {
 public:
  const Expression& operator[](ExpressionId id) const { return nodes_[raw(id)]; }
  size_t size() const { return nodes_.size(); }

  ExpressionId constant(uint64_t value, uint8_t width);
  ExpressionId truth(bool value) { return constant(value ? 1 : 0, 1); }
  ExpressionId symbol(SymbolId symbol, uint8_t width);
  // Folds constants and the identities that lifting meets all the time (x+0, x&x, not not x, ite of equal
  // arms …).
  ExpressionId make(Op op, uint8_t width, ExpressionId a, ExpressionId b = kNone<ExpressionId>,
                    ExpressionId c = kNone<ExpressionId>, uint16_t low = 0);
  ExpressionId negate(ExpressionId condition) { return make(Op::Xor, 1, condition, truth(true)); }

  bool is_constant(ExpressionId id) const { return (*this)[id].op == Op::Constant; }
  // Symbols in it, ascending, without repeats. Linear in the part of the DAG below it.
  std::vector<SymbolId> symbols(ExpressionId id) const;
  // The symbol in it if there is just one, kNone if there is none or more: known from the beginning.
  SymbolId only_symbol(ExpressionId id) const {
    return only_[raw(id)] == kMany ? kNone<SymbolId> : SymbolId{only_[raw(id)]};
  }
  // Value under an assignment: values[symbol]. Linear in the part of the DAG below it.
  uint64_t evaluate(ExpressionId id, std::span<const uint64_t> values) const;
  // SMT-LIB text; `names` gives a symbol its name.
  std::string print(ExpressionId id, std::span<const std::string> names) const;

 private:
  ExpressionId intern(const Expression& expression);
  ExpressionId fold(const Expression& expression);
  struct Hash {
    size_t operator()(const Expression& e) const;
  };
  static constexpr uint32_t kMany = UINT32_MAX - 1;  // symbols below a node; none is kNone
  std::vector<Expression> nodes_;
  std::vector<uint32_t> only_;
  boost::unordered_flat_map<Expression, uint32_t, Hash> ids_;
};

// The symbols of many expressions that share parts: every node is looked at once.
class SymbolCollector {
 public:
  explicit SymbolCollector(const ExpressionPool& pool) : pool_(pool) {}
  // The symbols in it that no call before has returned. No order.
  std::vector<SymbolId> fresh(ExpressionId id);

 private:
  const ExpressionPool& pool_;
  boost::unordered_flat_set<uint32_t> seen_;
};

// One operation on constants, as the machine does it. Division by zero gives what SMT-LIB says it gives.
uint64_t apply(const Expression& expression, uint64_t a, uint64_t b, uint64_t c, uint8_t operand_width);

// Keeps the low `width` bits (all of them for integers).
constexpr uint64_t truncate(uint64_t value, uint8_t width) {
  return width == kInteger || width >= 64 ? value : value & ((uint64_t{1} << width) - 1);
}
constexpr int64_t sign_extend(uint64_t value, uint8_t width) {
  if (width == kInteger || width >= 64) return static_cast<int64_t>(value);
  return static_cast<int64_t>(value << (64 - width)) >> (64 - width);
}

// Reads SMT-LIB: Core, Ints and fixed-size bit-vectors. `resolve` gives the expression behind a name, or
// kNone.
class NameResolver {
 public:
  virtual ~NameResolver() = default;
  virtual ExpressionId resolve(std::string_view name) = 0;
};
Result<ExpressionId> parse_expression(std::string_view text, ExpressionPool& pool, NameResolver& names);

}  // namespace cleave
