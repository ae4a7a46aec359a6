#include "solve/bank.h"

#include <gtest/gtest.h>

#include "feasibility/solve/feasibility.h"
#include "solve/brute_force.h"

namespace cleave {
namespace {

size_t feasible(const Bank& bank) {
  Result<SymbolicTrace> lifted = lift_annotations(bank.trace);
  EXPECT_TRUE(lifted.ok()) << lifted.error().sentence();
  FeasibilityChecker checker(lifted.value(), {});
  size_t count = 0;
  for (const auto& [f, r, s, p] : bank.candidates) {
    Feasibility got = checker.decide({f, r, s, p});
    EXPECT_NE(got.answer, Answer::Unknown) << got.why;
    if (got.answer != Answer::Feasible) continue;
    ++count;
    std::string why;
    EXPECT_TRUE(oracle::runs(bank.trace, got.order, f, r, s, p, got.inputs, &why)) << why;
  }
  return count;
}

// CTP Table 1, column sym-avs: 4k, 2k and 0.
TEST(CtpTable1, BankAvHasFourViolationsAThread) {
  for (int k : {2, 4, 8}) EXPECT_EQ(feasible(make_bank(k, BankKind::Split)), 4u * k);
}
TEST(CtpTable1, BankSavHasTwo) {
  for (int k : {2, 4, 8}) EXPECT_EQ(feasible(make_bank(k, BankKind::Partial)), 2u * k);
}
TEST(CtpTable1, BankNavHasNone) {
  for (int k : {2, 4, 8}) EXPECT_EQ(feasible(make_bank(k, BankKind::Transaction)), 0u);
}

}  // namespace
}  // namespace cleave
