#include "confirm/plans.h"

#include <gtest/gtest.h>

#include "trace/text/text.h"
#include "units/sets.h"

namespace cleave::confirm {
namespace {

using prediction::EventNumber;

// A trace, its facts, and one candidate of it.
struct Scene {
  explicit Scene(const char* text)
      : trace(parse_text_trace(text, "test").value()), sets({}, trace), units(map_units(trace, {}, sets)) {
    facts.emplace(trace, units);
    facts->locks.emplace(trace, facts->positions);
  }

  std::vector<EventNumber> plan(std::vector<prediction::Triple> triples, unsigned attempt) {
    prediction::Candidate candidate;
    candidate.reached = prediction::Reached::Locks;
    candidate.representatives = std::move(triples);
    return Planner(*facts).plan(candidate, attempt);
  }

  Trace trace;
  SetMap sets;
  UnitMap units;
  std::optional<prediction::TraceIndex> facts;
};

// Without the supplier first, the customer never comes to his second access.
constexpr const char* kShop = R"(# cleave text trace 1
supplier write items 1 @shop.c:1
T1 begin buy
T1 read items 1 @shop.c:10
T1 read items 1 @shop.c:11
T1 write items 0 @shop.c:12
T1 end
T2 read money 0 @shop.c:20
T2 write items 5 @shop.c:21
)";

TEST(Plans, TheRunUpToTheUnitIsPinned) {
  Scene shop(kShop);
  EXPECT_EQ(shop.plan({{2, 7, 3}}, 1), (std::vector<EventNumber>{0, 2, 7, 3}));
}

TEST(Plans, ARemoteThreadThatCameFirstIsHeldBeforeItsCriticalSection) {
  Scene scene(R"(# cleave text trace 1
T2 acquire m @shop.c:20
T2 write items 5 @shop.c:21
T2 release m @shop.c:22
T1 begin buy
T1 acquire m @shop.c:9
T1 read items 5 @shop.c:10
T1 release m @shop.c:10
T1 acquire m @shop.c:11
T1 read items 5 @shop.c:12
T1 release m @shop.c:13
T1 end
)");
  EXPECT_EQ(scene.plan({{5, 1, 8}}, 1), (std::vector<EventNumber>{4, 5, 6, 0, 1, 2, 7, 8}));
}

TEST(Plans, WhatTheRemoteThreadDoesBeforeItsAccessCanComeFirst) {
  Scene scene(R"(# cleave text trace 1
T1 begin last_index
T1 read size 0 @v.c:1
T1 read size 0 @v.c:2
T1 end
T2 write size 1 @v.c:5
T2 acquire m @v.c:6
T2 write size 0 @v.c:7
T2 release m @v.c:8
)");
  EXPECT_EQ(scene.plan({{1, 6, 2}}, 5), (std::vector<EventNumber>{4, 1, 5, 6, 7, 2}));
}

TEST(Plans, ARemoteWriteOfTheSameValueComesLast) {
  Scene scene(R"(# cleave text trace 1
T1 begin u
T1 read x 0 @a.c:1
T1 read x 0 @a.c:2
T1 end
T2 write x 1 @a.c:5
T2 write x 0 @a.c:5
)");
  EXPECT_EQ(scene.plan({{1, 5, 2}, {1, 4, 2}}, 6), (std::vector<EventNumber>{1, 4, 2}));
  EXPECT_EQ(scene.plan({{1, 5, 2}, {1, 4, 2}}, 8).front(), 1u) << "the other one is tried too";
}

TEST(Plans, OfALongOrderTheLastChangesArePinned) {
  std::string text = "# cleave text trace 1\n";
  for (int i = 0; i < 300; ++i) text += "T1 write y 1 @a.c:1\nT2 write y 2 @a.c:2\n";
  text += "T1 begin u\nT1 read x 0 @a.c:3\nT1 read x 0 @a.c:4\nT1 end\nT2 write x 1 @a.c:5\n";
  Scene scene(text.c_str());
  std::vector<EventNumber> plan = scene.plan({{601, 604, 602}}, 1);
  ASSERT_LE(plan.size(), 2 * Planner::kChanges + 3);
  EXPECT_EQ(plan.back(), 602u);
  EXPECT_GT(plan.front(), 300u);
}

}  // namespace
}  // namespace cleave::confirm
