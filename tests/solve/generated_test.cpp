// Generated symbolic traces: what is decided, by the solver alone, by states alone and by both, is what every
// interleaving says.
#include <gtest/gtest.h>

#include <cstdlib>

#include "feasibility/solve/feasibility.h"
#include "solve/generator.h"

namespace cleave {
namespace {

using oracle::Flavour;
using oracle::Generated;
using oracle::Generator;

const char* name_of(Flavour flavour) {
  constexpr const char* kNames[] = {"plain",     "handmade_lock", "barrier",   "readers_writer",
                                    "semaphore", "condition",     "fork_join", "array"};
  return kNames[static_cast<int>(flavour)];
}

SymbolicTrace lift(const Generated& g) {
  Result<SymbolicTrace> lifted = lift_annotations(g.trace);
  EXPECT_TRUE(lifted.ok()) << lifted.error().sentence();
  SymbolicTrace symbolic = std::move(lifted).value();
  ExpressionPool& pool = symbolic.pool();
  for (const auto& [event, move] : g.moves) {
    ExpressionId index = pool.symbol(symbolic.bound(move.read), kInteger);
    MovingStore store{index, {}};
    for (uint64_t i = 0; i < move.elements.size(); ++i)
      store.places.push_back({VariableId{move.elements[i]}, i});
    symbolic.move(EventIndex{event}, std::move(store));
    ExpressionId within =
        pool.make(Op::And, 1, pool.make(Op::SignedLessEqual, 1, pool.constant(0, kInteger), index),
                  pool.make(Op::SignedLess, 1, index, pool.constant(move.elements.size(), kInteger)));
    symbolic.assume(EventIndex{event}, within);
  }
  return symbolic;
}

class GeneratedTraces : public testing::TestWithParam<Flavour> {};

TEST_P(GeneratedTraces, TheAnswerIsThatOfEveryInterleaving) {
  const uint64_t traces =
      std::getenv("CLEAVE_TRACES") ? std::stoull(std::getenv("CLEAVE_TRACES")) : 2500;  // a flavour
  FeasibilityOptions solver_alone, states_alone;
  solver_alone.states = 0;
  states_alone.effort = 0;
  solver_alone.propagate = states_alone.propagate = false;
  size_t feasible = 0, infeasible = 0, decided = 0;
  for (uint64_t seed = 1; decided < traces; ++seed) {
    Generated g = Generator(seed, GetParam()).make();
    if (g.triples.empty()) continue;
    ++decided;
    SymbolicTrace symbolic = lift(g);
    // Every third trace by both, as users have it; the others by one of the two alone.
    FeasibilityChecker checker(symbolic, seed % 3 == 0   ? FeasibilityOptions{}
                                         : seed % 3 == 1 ? solver_alone
                                                         : states_alone);
    Random pick(seed);
    auto [f, r, s, p] = g.triples[pick.below(g.triples.size())];
    const FeasibilityQuery asked{f, r, s, p};
    checker.propagate({&asked, 1});
    Feasibility got = checker.decide(asked);
    bool expected = oracle::feasible(g.trace, f, r, s, p, g.moves);
    ASSERT_NE(got.answer, Answer::Unknown) << "seed " << seed << ": " << got.why;
    ASSERT_EQ(got.answer == Answer::Feasible, expected)
        << "seed " << seed << " triple " << raw(f) << ' ' << raw(r) << ' ' << raw(s) << ' ' << word_of(p);
    if (expected) {
      std::string why;
      ASSERT_TRUE(oracle::runs(g.trace, got.order, f, r, s, p, got.inputs, &why, g.moves))
          << "seed " << seed << ": " << why;
    }
    ++(expected ? feasible : infeasible);
  }
  EXPECT_GT(feasible, traces / 50);
  EXPECT_GT(infeasible, traces / 50);
}

// Propagation for all triples of a trace together: what it rules out is infeasible, and the answers are the
// same with it.
TEST_P(GeneratedTraces, WhatPropagationRulesOutIsInfeasible) {
  FeasibilityOptions alone;  // nothing but propagation and what is searched along it
  alone.effort = 0;
  size_t ruled_out = 0, found = 0, left = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    Generated g = Generator(seed, GetParam()).make();
    SymbolicTrace symbolic = lift(g);
    FeasibilityChecker checker(symbolic, alone);
    std::vector<FeasibilityQuery> queries;
    for (const auto& [f, r, s, p] : g.triples) queries.push_back({f, r, s, p});
    checker.propagate(queries);
    for (size_t q = 0; q < std::min<size_t>(queries.size(), 12); ++q) {
      const FeasibilityQuery& query = queries[q];
      Feasibility got = checker.decide(query, Effort::Guess);
      ++(got.answer == Answer::Infeasible ? ruled_out : got.answer == Answer::Feasible ? found : left);
      if (got.answer == Answer::Unknown) continue;
      bool expected =
          oracle::feasible(g.trace, query.first, query.remote, query.second, query.pattern, g.moves);
      ASSERT_EQ(got.answer == Answer::Feasible, expected) << "seed " << seed << " triple " << q;
      std::string why;
      if (expected)
        ASSERT_TRUE(oracle::runs(g.trace, got.order, query.first, query.remote, query.second, query.pattern,
                                 got.inputs, &why, g.moves))
            << "seed " << seed << ": " << why;
    }
  }
  EXPECT_GT(ruled_out, 0u);
  EXPECT_GT(found, 0u);
  RecordProperty("ruled out", static_cast<int>(ruled_out));
  RecordProperty("left open", static_cast<int>(left));
}

// One look at all triples of a trace together: what it rules out is infeasible, and the answers are the same
// with it.
TEST_P(GeneratedTraces, WhatASurveyRulesOutIsInfeasible) {
  size_t ruled_out = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    Generated g = Generator(seed, GetParam()).make();
    SymbolicTrace symbolic = lift(g);
    FeasibilityChecker checker(symbolic, FeasibilityOptions{});
    std::vector<FeasibilityQuery> queries;
    for (const auto& [f, r, s, p] : g.triples) queries.push_back({f, r, s, p});
    checker.survey(queries);
    for (size_t q = seed % 2; q < queries.size(); q += 2) {
      const FeasibilityQuery& query = queries[q];
      Feasibility got = checker.decide(query);
      bool expected =
          oracle::feasible(g.trace, query.first, query.remote, query.second, query.pattern, g.moves);
      ASSERT_EQ(got.answer == Answer::Feasible, expected) << "seed " << seed << " triple " << q;
      ruled_out += got.questions == 0 && got.states == 0;
    }
  }
  EXPECT_GT(ruled_out, 0u);
}

// A window leaves the beginning of the run as it was recorded: it may miss, but what it finds runs.
TEST_P(GeneratedTraces, WhatAWindowFindsRuns) {
  FeasibilityOptions windows;
  windows.effort = 0;
  windows.whole = 0;
  windows.window = 2;
  size_t found = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    Generated g = Generator(seed, GetParam()).make();
    if (g.triples.empty()) continue;
    SymbolicTrace symbolic = lift(g);
    FeasibilityChecker checker(symbolic, windows);
    Random pick(seed);
    auto [f, r, s, p] = g.triples[pick.below(g.triples.size())];
    Feasibility got = checker.decide({f, r, s, p});
    ASSERT_NE(got.answer, Answer::Infeasible) << "seed " << seed;
    if (got.answer != Answer::Feasible) continue;
    ++found;
    std::string why;
    ASSERT_TRUE(oracle::runs(g.trace, got.order, f, r, s, p, got.inputs, &why, g.moves))
        << "seed " << seed << ": " << why;
  }
  EXPECT_GT(found, 0u);
}

INSTANTIATE_TEST_SUITE_P(Flavours, GeneratedTraces,
                         testing::Values(Flavour::Plain, Flavour::HandmadeLock, Flavour::Barrier,
                                         Flavour::ReadersWriter, Flavour::Semaphore, Flavour::Condition,
                                         Flavour::ForkJoin, Flavour::Array),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace cleave
