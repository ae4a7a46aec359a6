#include "feasibility/lift/expression.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace cleave {
namespace {

class Names final : public NameResolver {
 public:
  explicit Names(ExpressionPool& pool) : pool_(pool) {}
  ExpressionId resolve(std::string_view name) override {
    static const std::map<std::string_view, std::pair<uint32_t, uint8_t>> known = {
        {"x", {0, kInteger}}, {"y", {1, kInteger}}, {"p", {2, 32}}, {"q", {3, 32}}, {"c", {4, 1}}};
    auto it = known.find(name);
    if (it == known.end()) return kNone<ExpressionId>;
    return pool_.symbol(SymbolId{it->second.first}, it->second.second);
  }

 private:
  ExpressionPool& pool_;
};

const std::vector<std::string> kNames = {"x", "y", "p", "q", "c"};

uint64_t value_of(std::string_view text, std::vector<uint64_t> values) {
  ExpressionPool pool;
  Names names(pool);
  Result<ExpressionId> e = parse_expression(text, pool, names);
  EXPECT_TRUE(e.ok()) << text;
  return e.ok() ? pool.evaluate(e.value(), values) : 0xdead;
}

TEST(Expression, EvaluatesAsTheMachineDoes) {
  std::vector<uint64_t> v = {7, static_cast<uint64_t>(-3), 0xffffffff, 2, 1};
  EXPECT_EQ(value_of("(+ x y 1)", v), 5u);
  EXPECT_EQ(static_cast<int64_t>(value_of("(- y)", v)), 3);
  EXPECT_EQ(static_cast<int64_t>(value_of("(- -5 x)", v)), -12);
  EXPECT_EQ(value_of("(mod y 2)", v), 1u);
  EXPECT_EQ(static_cast<int64_t>(value_of("(div y 2)", v)), -2);
  EXPECT_EQ(value_of("(bvadd p q)", v), 1u);
  EXPECT_EQ(value_of("(bvslt p q)", v), 1u);
  EXPECT_EQ(value_of("(bvult p q)", v), 0u);
  EXPECT_EQ(value_of("((_ sign_extend 32) p)", v), ~uint64_t{0});
  EXPECT_EQ(value_of("((_ zero_extend 32) p)", v), 0xffffffffu);
  EXPECT_EQ(value_of("((_ extract 15 8) (_ bv4660 32))", v), 0x12u);
  EXPECT_EQ(value_of("(bvudiv p (_ bv0 32))", v), 0xffffffffu);
  EXPECT_EQ(value_of("(bvashr p (_ bv40 32))", v), 0xffffffffu);
  EXPECT_EQ(value_of("(ite (and c (not (= x y))) x y)", v), 7u);
  EXPECT_EQ(value_of("(=> c (>= x 7))", v), 1u);
  EXPECT_EQ(value_of("(distinct x 7)", v), 0u);
}

TEST(Expression, WrongTextIsAnErrorThatQuotesIt) {
  for (const char* bad :
       {"", "(", "(+ x", "(+ x c)", "(foo x y)", "z", "(and x y)", "(+ x y) y", "(_ bv5 65)",
        "((_ extract 3 9) p)", "(< x)", "99999999999999999999", "((_ zero_extend 40) p)", "(=> x y z)"}) {
    ExpressionPool pool;
    Names names(pool);
    Result<ExpressionId> e = parse_expression(bad, pool, names);
    EXPECT_FALSE(e.ok()) << bad;
  }
  std::string deep(5000, '(');
  ExpressionPool pool;
  Names names(pool);
  EXPECT_FALSE(parse_expression(deep, pool, names).ok());
}

// Folding must not change a value, and printing must be readable again: random expressions, built once with
// folding and evaluated once by the plain rules of apply().
TEST(Expression, FoldingAndPrintingKeepTheValue) {
  Random random(7);
  for (int round = 0; round < 5000; ++round) {
    ExpressionPool pool;
    std::vector<uint64_t> values;
    for (int i = 0; i < 5; ++i) values.push_back(random.chance(1, 2) ? random.below(4) : random.next());
    values[2] &= 0xffffffff, values[3] &= 0xffffffff, values[4] &= 1;
    std::vector<std::pair<ExpressionId, uint64_t>> bits32 = {{pool.symbol(SymbolId{2}, 32), values[2]},
                                                             {pool.symbol(SymbolId{3}, 32), values[3]},
                                                             {pool.constant(0, 32), 0},
                                                             {pool.constant(1, 32), 1},
                                                             {pool.constant(0xffffffff, 32), 0xffffffff}};
    std::vector<std::pair<ExpressionId, uint64_t>> truths = {{pool.symbol(SymbolId{4}, 1), values[4]},
                                                             {pool.truth(true), 1}};
    for (int step = 0; step < 12; ++step) {
      auto a = bits32[random.below(bits32.size())], b = bits32[random.below(bits32.size())];
      auto c = truths[random.below(truths.size())], d = truths[random.below(truths.size())];
      Op op = static_cast<Op>(static_cast<int>(Op::Add) + random.below(18));
      Expression shape{.op = op, .width = 32};
      if (op >= Op::Equal && op <= Op::SignedLessEqual) {
        shape.width = 1;
        truths.emplace_back(pool.make(op, 1, a.first, b.first), apply(shape, a.second, b.second, 0, 32));
      } else if (op == Op::Ite) {
        continue;
      } else {
        bits32.emplace_back(pool.make(op, 32, a.first, b.first), apply(shape, a.second, b.second, 0, 32));
      }
      bits32.emplace_back(pool.make(Op::Ite, 32, c.first, a.first, b.first), c.second ? a.second : b.second);
      truths.emplace_back(pool.make(Op::Xor, 1, c.first, d.first), c.second ^ d.second);
      truths.emplace_back(pool.make(Op::And, 1, c.first, d.first), c.second & d.second);
    }
    for (const auto& [id, expected] : bits32) ASSERT_EQ(pool.evaluate(id, values), expected);
    for (const auto& [id, expected] : truths) ASSERT_EQ(pool.evaluate(id, values), expected);
    const auto& [id, expected] = truths.back();
    ExpressionPool other;
    Names names(other);
    Result<ExpressionId> again = parse_expression(pool.print(id, kNames), other, names);
    ASSERT_TRUE(again.ok()) << pool.print(id, kNames);
    ASSERT_EQ(other.evaluate(again.value(), values), expected);
  }
}

}  // namespace
}  // namespace cleave
