#include "solve/feasibility.h"

#include <gtest/gtest.h>

#include "solve/bank.h"
#include "solve/brute_force.h"
#include "solve/program.h"

namespace cleave {
namespace {

using oracle::Program;

Feasibility decide(const Trace& trace, EventIndex f, EventIndex r, EventIndex s, Pattern p, FeasibilityOptions options = {}) {
  Result<SymbolicTrace> lifted = lift_annotations(trace);
  EXPECT_TRUE(lifted.ok());
  FeasibilityChecker checker(lifted.value(), options);
  Feasibility result = checker.decide({f, r, s, p});
  if (result.answer == Answer::Feasible) {
    std::string why;
    EXPECT_TRUE(oracle::runs(trace, result.order, f, r, s, p, result.inputs, &why)) << why;
  }
  return result;
}

TEST(GuardedIndependence, AWriteOfTheSameValueIsNoViolation) {
  Program p;
  EventIndex first = p.read("T1", "x", 0, "a");
  EventIndex second = p.read("T1", "x", 0, "b");
  EventIndex remote = p.write("T2", "x", 0, "0");
  Trace trace = p.done();
  EXPECT_EQ(decide(trace, first, remote, second, Pattern::RWR).answer, Answer::Infeasible);
  FeasibilityOptions conflicts;
  conflicts.same_value_is_violation = true;
  Result<SymbolicTrace> lifted = lift_annotations(trace);
  EXPECT_EQ(FeasibilityChecker(lifted.value(), conflicts).decide({first, remote, second, Pattern::RWR}).answer, Answer::Feasible);
}

TEST(Inputs, AreChosenSoThatTheConditionHolds) {
  Program p;
  EventIndex in = p.b.add({.kind = EventKind::Input, .thread = p.b.thread("T2"), .object = p.b.input_name("amount"), .value = 1});
  p.b.annotate(in, {"amount", ""});
  p.assume("T2", "(< amount 10)");
  EventIndex first = p.read("T1", "x", 0, "a");
  EventIndex second = p.read("T1", "x", 0, "b");
  EventIndex remote = p.write("T2", "x", 0, "(- amount 1)");
  Trace trace = p.done();
  Feasibility result = decide(trace, first, remote, second, Pattern::RWR);
  ASSERT_EQ(result.answer, Answer::Feasible);
  EXPECT_NE(result.inputs.at("amount"), 1u);
}

TEST(CommonLock, HeldThroughoutRulesItOut) {
  Program p;
  p.b.acquire("T1", "m");
  EventIndex first = p.read("T1", "x", 0, "a");
  EventIndex second = p.write("T1", "x", 1, "(+ a 1)");
  p.b.release("T1", "m");
  p.b.acquire("T2", "m");
  EventIndex remote = p.write("T2", "x", 7, "7");
  p.b.release("T2", "m");
  Trace trace = p.done();
  EXPECT_EQ(decide(trace, first, remote, second, Pattern::RWW).answer, Answer::Infeasible);
}

TEST(ATraceWithoutData, KeepsWhatReadsReturned) {
  Program p;
  EventIndex first = p.b.read("T1", "x", 0);
  EventIndex second = p.b.write("T1", "x", 1);
  p.b.read("T2", "x", 1);
  EventIndex remote = p.b.write("T2", "x", 5);
  Trace trace = p.done();
  Result<SymbolicTrace> lifted = lift_annotations(trace);
  FeasibilityChecker checker(lifted.value(), {});
  EXPECT_EQ(checker.decide({first, remote, second, Pattern::RWW}).answer, Answer::Infeasible);
}

// What the solver cannot have is said, and nothing is decided on it.
class Limits : public testing::Test {
 protected:
  Feasibility decide(FeasibilityOptions options) {
    Bank bank = make_bank(6, BankKind::Counter);
    Result<SymbolicTrace> lifted = lift_annotations(bank.trace);
    auto [f, r, s, p] = bank.candidates[0];
    options.states = 0;  // the solver alone
    return FeasibilityChecker(lifted.value(), options).decide({f, r, s, p});
  }
};

TEST_F(Limits, Effort) {
  FeasibilityOptions options;
  options.effort = 1000;
  Feasibility got = decide(options);
  EXPECT_EQ(got.answer, Answer::Unknown);
  EXPECT_TRUE(got.why.starts_with("effort")) << got.why;
}

TEST_F(Limits, Time) {
  FeasibilityOptions options;
  int asked = 0;
  options.seconds_left = [&asked] { return asked++ == 0 ? 1.0 : 0.0; };
  Feasibility got = decide(options);
  EXPECT_EQ(got.answer, Answer::Unknown);
  EXPECT_TRUE(got.why.starts_with("time")) << got.why;
}

TEST_F(Limits, Memory) {
  FeasibilityOptions options;
  options.memory = 1;
  Feasibility got = decide(options);
  EXPECT_EQ(got.answer, Answer::Unknown);
  EXPECT_TRUE(got.why.starts_with("memory")) << got.why;
}

TEST_F(Limits, Growths) {
  FeasibilityOptions options;
  options.growths = 0;
  Feasibility got = decide(options);
  EXPECT_EQ(got.answer, Answer::Unknown);
  EXPECT_NE(got.why.find("grow"), std::string::npos) << got.why;
}

}  // namespace
}  // namespace cleave
