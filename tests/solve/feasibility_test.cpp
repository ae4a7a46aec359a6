#include "feasibility/solve/feasibility.h"

#include <gtest/gtest.h>

#include "solve/bank.h"
#include "solve/brute_force.h"
#include "solve/program.h"

namespace cleave {
namespace {

using oracle::Program;

Feasibility decide(const Trace& trace, EventIndex f, EventIndex r, EventIndex s, Pattern p,
                   FeasibilityOptions options = {}) {
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

// A trace that does not say what one of its writes stored: no answer, and no crash.
TEST(Feasibility, AWriteWithoutAStoredValueIsNotModelled) {
  for (bool explores : {true, false}) {
    Program p;
    EventIndex first = p.write("T1", "x", 1, "1");
    EventIndex remote = p.read("T2", "x", 2, "b");
    p.assume("T2", "(> b 0)");
    EventIndex second = p.write("T1", "x", 2, "2");
    Trace trace = p.done();
    Result<SymbolicTrace> lifted = lift_annotations(trace);
    ASSERT_TRUE(lifted.ok());
    lifted.value().store(first, kNone<ExpressionId>);
    FeasibilityOptions options;
    if (!explores) options.states = 0;
    Feasibility got =
        FeasibilityChecker(lifted.value(), options).decide({first, remote, second, Pattern::WRW});
    EXPECT_EQ(got.answer, Answer::Unknown);
    EXPECT_TRUE(got.why.starts_with("not modelled: ")) << got.why;
  }
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
  EXPECT_EQ(
      FeasibilityChecker(lifted.value(), conflicts).decide({first, remote, second, Pattern::RWR}).answer,
      Answer::Feasible);
}

// Ten players, each of whom takes the ball away and puts the same back: which of them writes what needs no
// proof a triple, and must not, since those for the many writes of `hits` use up what there is for proofs.
TEST(GuardedIndependence, WritesOfOneValueAreKnownBeforeAnythingIsAsked) {
  Program p;
  struct Play {
    EventIndex look, take, give;
  };
  std::vector<Play> plays;
  uint64_t hits = 0;
  for (int player = 0; player < 10; ++player) {
    const std::string name = "T" + std::to_string(player), ball = "b" + std::to_string(player);
    const char* t = name.c_str();
    Play play;
    play.look = p.read(t, "ball", 7, ball);
    p.assume(t, "(= " + ball + " 7)");
    play.take = p.write(t, "ball", 0, "0");
    for (int i = 0; i < 20; ++i, ++hits) {
      const std::string seen = "h" + std::to_string(hits);
      p.read(t, "hits", hits, seen);
      p.write(t, "hits", hits + 1, "(+ " + seen + " 1)");
    }
    play.give = p.write(t, "ball", 7, ball);
    plays.push_back(play);
  }
  p.b.set_initial(p.b.variable("ball"), 7);
  Trace trace = p.done();
  Result<SymbolicTrace> lifted = lift_annotations(trace);
  ASSERT_TRUE(lifted.ok());
  FeasibilityOptions nothing;  // neither the solver nor states
  nothing.effort = nothing.states = 0;
  FeasibilityChecker checker(lifted.value(), nothing);
  std::vector<FeasibilityQuery> never, may_be;
  for (const Play& mine : plays) {
    for (const Play& theirs : plays) {
      if (&mine == &theirs) continue;
      never.push_back({mine.look, theirs.take, mine.take, Pattern::RWW});
      never.push_back({mine.take, theirs.take, mine.give, Pattern::WWW});
      never.push_back({mine.take, theirs.give, mine.give, Pattern::WWW});
      may_be.push_back({mine.look, theirs.give, mine.take, Pattern::RWW});
    }
  }
  std::vector<FeasibilityQuery> all = never;
  all.insert(all.end(), may_be.begin(), may_be.end());
  checker.propagate(all);
  for (const FeasibilityQuery& query : may_be) EXPECT_NE(checker.decide(query).answer, Answer::Infeasible);
  for (const FeasibilityQuery& query : never) ASSERT_EQ(checker.decide(query).answer, Answer::Infeasible);
}

TEST(Inputs, AreChosenSoThatTheConditionHolds) {
  Program p;
  EventIndex in = p.b.add(
      {.kind = EventKind::Input, .thread = p.b.thread("T2"), .object = p.b.input_name("amount"), .value = 1});
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
