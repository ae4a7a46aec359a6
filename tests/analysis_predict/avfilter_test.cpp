// The ten scenarios of AVFilter's Table 1 and its figures 2 and 6, with the readings of the paper that brute
// force bears out: row 4 begins with the read of thread 2 before both writes of thread 1, and reads of
// initial values are free in the under-approximate model.
#include <gtest/gtest.h>

#include "support.h"

namespace cleave::prediction {
namespace {

struct Row {
  const char* name;
  const char* trace;
  Pattern pattern;
  bool under_approximation;  // whether keeping every read's write covers it
};

const Row kRows[] = {
    {"R1 R1 W2", "T1 begin u\nT1 read x 0\nT1 read x 0\nT1 end\nT2 write x 5\n", Pattern::RWR, true},
    {"R1 W1 W2", "T1 begin u\nT1 read x 0\nT1 write x 1\nT1 end\nT2 write x 5\n", Pattern::RWW, true},
    {"W1 W1 W2", "T1 begin u\nT1 write x 1\nT1 write x 2\nT1 end\nT2 write x 5\n", Pattern::WWW, true},
    {"R2 W1 W1", "T2 read x 0\nT1 begin u\nT1 write x 1\nT1 write x 2\nT1 end\n", Pattern::WRW, true},
    {"W2 W1 W1", "T2 write x 5\nT1 begin u\nT1 write x 1\nT1 write x 2\nT1 end\n", Pattern::WWW, true},
    {"W1 R1 W2", "T1 begin u\nT1 write x 1\nT1 read x 1\nT1 end\nT2 write x 5\n", Pattern::WWR, false},
    {"W1 W1 R2", "T1 begin u\nT1 write x 1\nT1 write x 2\nT1 end\nT2 read x 2\n", Pattern::WRW, false},
    {"W2 R1 R1", "T2 write x 5\nT1 begin u\nT1 read x 5\nT1 read x 5\nT1 end\n", Pattern::RWR, false},
    {"W2 W1 R1", "T2 write x 5\nT1 begin u\nT1 write x 1\nT1 read x 1\nT1 end\n", Pattern::WWR, false},
    {"W2 R1 W1", "T2 write x 5\nT1 begin u\nT1 read x 5\nT1 write x 1\nT1 end\n", Pattern::RWW, false},
};

TEST(AvFilterTable1, FilterPredictsAllTenAndTheUnderApproximationHalf) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    Predicted p(row.trace);
    ASSERT_EQ(p.prediction.candidates.size(), 1u);
    const Candidate& candidate = p.prediction.candidates[0];
    EXPECT_EQ(candidate.pattern, row.pattern);
    EXPECT_EQ(candidate.filter, Mark::Kept);
    EXPECT_EQ(candidate.exact, row.under_approximation ? Mark::Kept : Mark::ByValue)
        << "values may change where no branch follows";
    EXPECT_EQ(candidate.verdict(), Verdict::Feasible);
  }
}

// Row 8 with a branch on what was read: the read of thread 1 may no longer change.
TEST(AvFilterTable1, ABranchOnAChangedReadIsDropped) {
  Predicted p("T2 write x 5\nT1 begin u\nT1 read x 5\nT1 branch 1\nT1 read x 5\nT1 end\n");
  ASSERT_EQ(p.prediction.candidates.size(), 1u);
  EXPECT_EQ(p.prediction.candidates[0].filter, Mark::Dropped);
  EXPECT_EQ(p.prediction.candidates[0].verdict(), Verdict::Infeasible);
}

// Figure 2, from the Apache server: thread 2 cannot hold &item before thread 1 has put it into the queue.
TEST(AvFilterFigures, Figure2IsDroppedByLemma1) {
  Predicted p(R"(
T1 begin increment
T1 read  item 0
T1 write item 1
T1 end
T1 acquire l
T1 read  index 0
T1 write q0 100
T1 write index 1
T1 signal cond
T1 release l
T2 acquire l
T2 read  index 1
T2 branch 1
T2 read  index 1
T2 write index 0
T2 read  q0 100
T2 release l
T2 write item 2
)");
  ASSERT_EQ(p.triples("locks"), 1u) << "locks alone cannot tell";
  EXPECT_EQ(p.triples("filter"), 0u);
  EXPECT_EQ(p.sites("exact"), 0u);
  EXPECT_EQ(p.by_value(), 0u);
  EXPECT_EQ(p.prediction.candidates[0].verdict(), Verdict::Infeasible);
}

// Figure 6: thread 1 reads x at line 3 from thread 2's line 2, and branches on it before line 5.
TEST(AvFilterFigures, Figure6IsDroppedByLemma2) {
  Predicted p(R"(
init x 0
T2 write x 1
T1 begin u
T1 read  x 1
T1 branch 1
T1 write x 2
T1 end
)");
  ASSERT_EQ(p.triples("locks"), 1u);
  EXPECT_EQ(p.triples("filter"), 0u);
  EXPECT_EQ(p.prediction.candidates[0].verdict(), Verdict::Infeasible);
}

TEST(AvFilter, WhatWasObservedIsKept) {
  Predicted p("T1 begin u\nT1 read x 0\nT2 write x 5\nT1 branch 1\nT1 read x 5\nT1 end\n");
  ASSERT_EQ(p.prediction.candidates.size(), 1u);
  EXPECT_EQ(p.prediction.candidates[0].filter, Mark::Kept);
  EXPECT_EQ(p.prediction.candidates[0].exact, Mark::Kept);
}

// A third thread hands the dependence on: only clocks of reads-from see it.
TEST(AvFilter, ChainsThroughOtherThreadsCount) {
  Predicted p(R"(
T1 begin u
T1 read  x 0
T1 write x 1
T1 end
T1 write y 1
T3 read  y 1
T3 write z 1
T2 read  z 1
T2 write x 2
)");
  ASSERT_EQ(p.triples("locks"), 1u);
  EXPECT_EQ(p.triples("filter"), 0u);
}

}  // namespace
}  // namespace cleave::prediction
