// The graph itself where small traces do not lead: more overlapping units than bits in a word, rows that are
// merged, units that never end, what is forgotten and when.
#include "analysis/conflict/graph.h"

#include <gtest/gtest.h>

#include "analysis/conflict/check.h"
#include "analysis/conflict/full_graph.h"
#include "analysis/conflict/generated_traces.h"

namespace cleave::conflict {
namespace {

Edge any_edge() { return Edge{.object = 0}; }

TEST(Graph, AUnitThatNothingReachesIsForgottenWhenItEnds) {
  Graph graph;
  NodeRef a = graph.open({}), b = graph.open({});
  EXPECT_FALSE(graph.add_edge(a, b, any_edge()));
  graph.end(b);
  EXPECT_TRUE(graph.alive(b));  // a is open and reaches it
  graph.end(a);
  EXPECT_FALSE(graph.alive(a));
  EXPECT_FALSE(graph.alive(b));
  EXPECT_EQ(graph.live(), 0u);
}

TEST(Graph, WhatReachesAnOpenUnitLaterReachesWhatItReachedBefore) {
  Graph graph;
  NodeRef a = graph.open({}), b = graph.open({}), c = graph.open({});
  EXPECT_FALSE(graph.add_edge(b, c, any_edge()));
  graph.end(c);
  EXPECT_FALSE(graph.add_edge(a, b, any_edge()));
  graph.end(b);
  EXPECT_TRUE(graph.alive(c));
  EXPECT_TRUE(graph.add_edge(c, a, any_edge()));
  Cycle cycle = graph.cycle_through(c, a);
  EXPECT_EQ(cycle.size(), 3u);
}

TEST(Graph, CyclesOfUnitsThatAreOverAreForgottenToo) {
  Graph graph;
  NodeRef a = graph.open({}), b = graph.open({});
  EXPECT_FALSE(graph.add_edge(a, b, any_edge()));
  EXPECT_TRUE(graph.add_edge(b, a, any_edge()));
  graph.end(a);
  EXPECT_TRUE(graph.alive(a));
  graph.end(b);
  EXPECT_EQ(graph.live(), 0u);
}

TEST(Graph, AChainOfTwoHundredOpenUnits) {
  Graph graph;
  std::vector<NodeRef> chain;
  for (int i = 0; i < 200; ++i) chain.push_back(graph.open({}));
  for (int i = 199; i > 0; --i) EXPECT_FALSE(graph.add_edge(chain[i - 1], chain[i], any_edge()));
  EXPECT_TRUE(graph.add_edge(chain[199], chain[0], any_edge()));
  EXPECT_EQ(graph.cycle_through(chain[199], chain[0]).size(), 200u);
  for (NodeRef node : chain) graph.end(node);
  EXPECT_EQ(graph.live(), 0u);
}

TEST(Graph, UnderAnEternalUnitRowsDoNotGrow) {
  Graph graph;
  NodeRef eternal = graph.open({});
  NodeRef last;
  for (int i = 0; i < 20000; ++i) {
    NodeRef node = graph.open({});
    graph.add_edge(eternal, node, any_edge());
    graph.end(node);
    last = node;
  }
  EXPECT_TRUE(graph.alive(last));
  EXPECT_TRUE(graph.add_edge(last, eternal, any_edge()));
  EXPECT_EQ(graph.cycle_through(last, eternal).size(), 2u);
  graph.end(eternal);
  EXPECT_EQ(graph.live(), 0u);
}

// Many threads and long traces, so that masks are several words wide and rows are merged on the way.
TEST(Oracle, ManyThreads) {
  unsigned with_cycle = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    for (bool one : {false, true}) {
      Random random(900 + seed);
      TraceShape shape{.threads = 150, .steps = 900, .variables = 40, .locks = 2};
      Trace trace = TraceGenerator(random, shape).make();
      CheckOptions options;
      options.units.annotated = true;
      options.sets.one = one;
      TraceSource source(trace);
      CheckReport report = check(source, options).value();
      std::optional<size_t> expected = FullGraph(trace, {.one = one}).first_cycle();
      ASSERT_EQ(report.first_violation.has_value(), expected.has_value()) << seed;
      if (expected) EXPECT_EQ(raw(*report.first_violation), *expected) << seed;
      with_cycle += expected.has_value();
    }
  }
  EXPECT_GT(with_cycle, 4u);
}

}  // namespace
}  // namespace cleave::conflict
