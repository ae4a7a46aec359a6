// SMT-LIB terms: (op arg …), ((_ op n …) arg …), (_ bvN W), names, numbers.
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "feasibility/lift/expression.h"

namespace cleave {
namespace {

constexpr int kDeepest = 2000;  // nested parentheses; a hostile text must not exhaust the stack

class Parser {
 public:
  Parser(std::string_view text, ExpressionPool& pool, NameResolver& names)
      : text_(text), pool_(pool), names_(names) {}

  Result<ExpressionId> parse() {
    ExpressionId result = term(0);
    skip_blanks();
    if (error_.empty() && at_ != text_.size()) fail("more text than one expression");
    if (!error_.empty()) return Error{"", error_};
    return result;
  }

 private:
  ExpressionId fail(std::string message) {
    if (error_.empty()) error_ = fmt::format("in expression `{}`: {}", text_.substr(0, 80), message);
    at_ = text_.size();
    return pool_.truth(false);
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string_view word() {
    skip_blanks();
    size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ' ' && text_[at_] != '\t' && text_[at_] != '(' &&
           text_[at_] != ')')
      ++at_;
    return text_.substr(begin, at_ - begin);
  }
  std::optional<uint64_t> number(std::string_view digits) {
    uint64_t value = 0;
    auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (code != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return value;
  }

  ExpressionId term(int depth) {
    if (depth > kDeepest) return fail("nested too deeply");
    if (take('(')) return list(depth);
    std::string_view name = word();
    if (name.empty()) return fail("something is missing");
    if (name == "true" || name == "false") return pool_.truth(name == "true");
    if (name[0] >= '0' && name[0] <= '9') {
      auto value = number(name);
      return value ? pool_.constant(*value, kInteger) : fail(fmt::format("`{}` is not a number", name));
    }
    if (name[0] == '-' && name.size() > 1) {
      auto value = number(name.substr(1));
      return value ? pool_.constant(0 - *value, kInteger) : fail(fmt::format("`{}` is not a number", name));
    }
    ExpressionId found = names_.resolve(name);
    return found == kNone<ExpressionId> ? fail(fmt::format("`{}` is not bound before", name)) : found;
  }

  ExpressionId list(int depth) {
    std::string_view op;
    std::vector<uint64_t> indexes;
    if (take('(')) {  // ((_ extract 7 0) x)
      if (word() != "_") return fail("`_` expected");
      op = word();
      while (!take(')')) {
        auto index = number(word());
        if (!index || *index > 64) return fail("an index from 0 to 64 expected");
        indexes.push_back(*index);
      }
    } else {
      op = word();
      if (op == "_") return bit_vector_constant();
    }
    std::vector<ExpressionId> arguments;
    while (!take(')')) {
      if (at_ >= text_.size()) return fail("`)` is missing");
      arguments.push_back(term(depth + 1));
      if (!error_.empty()) return pool_.truth(false);
    }
    return operation(op, indexes, arguments);
  }

  ExpressionId bit_vector_constant() {  // (_ bv5 32)
    std::string_view digits = word();
    auto width = number(word());
    if (!digits.starts_with("bv") || !width || *width < 1 || *width > 64 || !take(')')) {
      return fail("`(_ bvN WIDTH)` expected");
    }
    auto value = number(digits.substr(2));
    return value ? pool_.constant(*value, static_cast<uint8_t>(*width)) : fail("`(_ bvN WIDTH)` expected");
  }

  uint8_t width(ExpressionId id) const { return pool_[id].width; }

  ExpressionId operation(std::string_view op, const std::vector<uint64_t>& indexes,
                         const std::vector<ExpressionId>& args) {
    if (args.empty()) return fail(fmt::format("`{}` without arguments", op));
    if (!indexes.empty()) return indexed(op, indexes, args);
    if (op == "not")
      return args.size() == 1 && width(args[0]) == 1 ? pool_.negate(args[0])
                                                     : fail("`not` takes a condition");
    if (op == "ite") {
      if (args.size() != 3 || width(args[0]) != 1 || width(args[1]) != width(args[2]))
        return fail("`ite` takes a condition and two alike");
      return pool_.make(Op::Ite, width(args[1]), args[0], args[1], args[2]);
    }
    if (op == "-" && args.size() == 1)
      return binary(Op::Subtract, kInteger, {pool_.constant(0, kInteger), args[0]});
    if (op == "bvneg" && args.size() == 1)
      return binary(Op::Subtract, width(args[0]), {pool_.constant(0, width(args[0])), args[0]});
    if (op == "bvnot" && args.size() == 1) {
      return binary(Op::Xor, width(args[0]), {args[0], pool_.constant(~uint64_t{0}, width(args[0]))});
    }
    if (op == "concat" && args.size() == 2 && width(args[0]) + width(args[1]) <= 64) {
      auto total = static_cast<uint8_t>(width(args[0]) + width(args[1]));
      return pool_.make(Op::Concat, total, args[0], args[1], kNone<ExpressionId>, width(args[1]));
    }
    struct Entry {
      std::string_view name;
      Op op;
      int operands;
      bool swapped;
      bool negated;
    };  // operands: 0 ints, 1 conditions, 2 bit-vectors, 3 any
    static constexpr Entry kEntries[] = {
        {"+", Op::Add, 0, false, false},
        {"-", Op::Subtract, 0, false, false},
        {"*", Op::Multiply, 0, false, false},
        {"div", Op::SignedDivide, 0, false, false},
        {"mod", Op::SignedRemainder, 0, false, false},
        {"<", Op::SignedLess, 0, false, false},
        {"<=", Op::SignedLessEqual, 0, false, false},
        {">", Op::SignedLess, 0, true, false},
        {">=", Op::SignedLessEqual, 0, true, false},
        {"and", Op::And, 1, false, false},
        {"or", Op::Or, 1, false, false},
        {"xor", Op::Xor, 1, false, false},
        {"=", Op::Equal, 3, false, false},
        {"distinct", Op::Equal, 3, false, true},
        {"bvadd", Op::Add, 2, false, false},
        {"bvsub", Op::Subtract, 2, false, false},
        {"bvmul", Op::Multiply, 2, false, false},
        {"bvudiv", Op::UnsignedDivide, 2, false, false},
        {"bvsdiv", Op::SignedDivide, 2, false, false},
        {"bvurem", Op::UnsignedRemainder, 2, false, false},
        {"bvsrem", Op::SignedRemainder, 2, false, false},
        {"bvand", Op::And, 2, false, false},
        {"bvor", Op::Or, 2, false, false},
        {"bvxor", Op::Xor, 2, false, false},
        {"bvshl", Op::ShiftLeft, 2, false, false},
        {"bvlshr", Op::LogicalShiftRight, 2, false, false},
        {"bvashr", Op::ArithmeticShiftRight, 2, false, false},
        {"bvult", Op::UnsignedLess, 2, false, false},
        {"bvule", Op::UnsignedLessEqual, 2, false, false},
        {"bvugt", Op::UnsignedLess, 2, true, false},
        {"bvuge", Op::UnsignedLessEqual, 2, true, false},
        {"bvslt", Op::SignedLess, 2, false, false},
        {"bvsle", Op::SignedLessEqual, 2, false, false},
        {"bvsgt", Op::SignedLess, 2, true, false},
        {"bvsge", Op::SignedLessEqual, 2, true, false},
    };
    if (op == "=>" && args.size() == 2) return binary(Op::Or, 1, {pool_.negate(args[0]), args[1]});
    for (const Entry& entry : kEntries) {
      if (entry.name != op) continue;
      if (args.size() < 2) return fail(fmt::format("`{}` takes two arguments", op));
      uint8_t w = width(args[0]);
      bool fits = entry.operands == 0   ? w == kInteger
                  : entry.operands == 1 ? w == 1
                  : entry.operands == 2 ? w != kInteger
                                        : true;
      for (ExpressionId arg : args) fits = fits && width(arg) == w;
      if (!fits) return fail(fmt::format("the arguments of `{}` do not fit", op));
      bool compares = entry.op >= Op::Equal && entry.op <= Op::SignedLessEqual;
      if (compares && args.size() != 2) return fail(fmt::format("`{}` takes two arguments", op));
      std::vector<ExpressionId> ordered = args;
      if (entry.swapped) std::swap(ordered[0], ordered[1]);
      ExpressionId result = binary(entry.op, compares ? 1 : w, ordered);
      return entry.negated ? pool_.negate(result) : result;
    }
    return fail(fmt::format("`{}` is not known", op));
  }

  ExpressionId indexed(std::string_view op, const std::vector<uint64_t>& indexes,
                       const std::vector<ExpressionId>& args) {
    uint8_t w = width(args[0]);
    if (args.size() != 1 || w == kInteger) return fail(fmt::format("`{}` takes one bit-vector", op));
    if ((op == "zero_extend" || op == "sign_extend") && indexes.size() == 1 && w + indexes[0] <= 64) {
      return pool_.make(op == "zero_extend" ? Op::ZeroExtend : Op::SignExtend,
                        static_cast<uint8_t>(w + indexes[0]), args[0]);
    }
    if (op == "extract" && indexes.size() == 2 && indexes[0] >= indexes[1] && indexes[0] < w) {
      return pool_.make(Op::Extract, static_cast<uint8_t>(indexes[0] - indexes[1] + 1), args[0],
                        kNone<ExpressionId>, kNone<ExpressionId>, static_cast<uint16_t>(indexes[1]));
    }
    return fail(fmt::format("`{}` is not known", op));
  }

  // Left-associative over any number of arguments.
  ExpressionId binary(Op op, uint8_t w, const std::vector<ExpressionId>& args) {
    ExpressionId result = args[0];
    for (size_t i = 1; i < args.size(); ++i) result = pool_.make(op, w, result, args[i]);
    return result;
  }

  std::string_view text_;
  ExpressionPool& pool_;
  NameResolver& names_;
  size_t at_ = 0;
  std::string error_;
};

}  // namespace

Result<ExpressionId> parse_expression(std::string_view text, ExpressionPool& pool, NameResolver& names) {
  return Parser(text, pool, names).parse();
}

}  // namespace cleave
