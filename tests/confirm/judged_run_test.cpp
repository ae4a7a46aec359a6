#include "confirm/judged_run.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "trace/text/text.h"

namespace cleave::confirm {
namespace {

Trace parse(const char* text) { return parse_text_trace(text, "test").value(); }

std::vector<judge::UnitSpan> spans(const Trace& trace, UnitOptions options = {}) {
  SetMap sets({}, trace);
  UnitMap units = map_units(trace, options, sets);
  return spans_of(trace, units, sets, sets.set_of(VariableId{0}));
}

TEST(SpansOf, AUnitThatDoesNotEndLastsToItsThreadsEnd) {
  Trace trace = parse("T1 begin u\nT1 read x 0\nT2 write x 1\nT1 read x 1\n");
  std::vector<judge::UnitSpan> units = spans(trace);
  ASSERT_EQ(units.size(), 1u);
  EXPECT_EQ(units[0].first, EventIndex{0});
  EXPECT_EQ(units[0].last, EventIndex{3});
}

TEST(SpansOf, OverlappingLockSectionsBecomeDisjointOrNested) {
  Trace trace = parse(R"(
set S x y z
T1 acquire a
T1 write x 1
T1 acquire b
T1 write y 1
T1 release a
T1 write z 1
T1 release b
)");
  UnitOptions options;
  options.locks = true;
  std::vector<judge::UnitSpan> units = spans(trace, options);
  EXPECT_EQ(units.size(), 2u);
  for (size_t i = 1; i < units.size(); ++i) {
    bool nested = raw(units[i].last) <= raw(units[i - 1].last);
    bool disjoint = raw(units[i].first) > raw(units[i - 1].last);
    EXPECT_TRUE(nested || disjoint);
  }
}

TEST(SpansOf, TheLaterOfTwoOverlappingSectionsBeginsWhereTheEarlierEnds) {
  Trace trace = parse(R"(
T1 acquire a
T1 acquire b
T1 release a
T1 read x 0
T2 write x 1
T1 read x 1
T1 release b
)");
  UnitOptions options;
  options.locks = true;
  std::vector<judge::UnitSpan> units = spans(trace, options);
  ASSERT_FALSE(units.empty());
  EXPECT_TRUE(std::any_of(units.begin(), units.end(), [](const judge::UnitSpan& unit) {
    return raw(unit.first) <= 3 && raw(unit.last) >= 5;
  })) << "the two reads are in one unit";
}

TEST(SpansOf, AUnitOfOtherSetsIsLeftOut) {
  Trace trace = parse(R"(
T1 begin outer self=a
T1 begin inner self=b
T1 read b.x 0
T1 end
T1 write a.y 1
T1 end
)");
  std::vector<judge::UnitSpan> units = spans(trace);
  ASSERT_EQ(units.size(), 1u);
  EXPECT_EQ(units[0].first, EventIndex{1});
  EXPECT_EQ(units[0].last, EventIndex{3});
}

judge::SiteTriple lines(uint32_t first, uint32_t remote, uint32_t second) {
  judge::SiteTriple sites;
  sites.first.file = sites.remote.file = sites.second.file = "bank.c";
  sites.first.line = first;
  sites.remote.line = remote;
  sites.second.line = second;
  return sites;
}

// The unit around both is declared on another object: what it does to b it does in two steps, each a unit.
TEST(JudgeRun, TwoUnitsInsideALargerOneOfAnotherSetAreNoTriple) {
  std::string path = testing::TempDir() + "judged_run_units_test.txt";
  std::ofstream(path) << R"(# cleave text trace 1
T1 begin outer self=a
T1 write a.y 1 @bank.c:5
T1 begin inner self=b
T1 read  b.x 0 @bank.c:10
T1 write b.x 1 @bank.c:11
T1 end
T2 write b.x 7 @bank.c:20
T1 begin inner self=b
T1 read  b.x 7 @bank.c:10
T2 write b.x 9 @bank.c:20
T1 write b.x 8 @bank.c:11
T1 end
T1 end
)";
  EXPECT_FALSE(judge_run(path, lines(11, 20, 10), Pattern::WWR, {}).value().there);
  Result<JudgedRun> within = judge_run(path, lines(10, 20, 11), Pattern::RWW, {});
  ASSERT_TRUE(within.ok());
  EXPECT_TRUE(within.value().there);
  EXPECT_EQ(within.value().unit, "inner");
  EXPECT_FALSE(judge_run(path, lines(10, 20, 11), Pattern::RWR, {}).value().there)
      << "another pattern at these places";
  std::remove(path.c_str());
}

// What judge_run does with the trace of a run, here a text trace in its place.
TEST(JudgeRun, FindsTheTripleBySitesAndProvesIt) {
  std::string path = testing::TempDir() + "judged_run_test.txt";
  std::ofstream(path) << R"(# cleave text trace 1
T1 begin withdraw
T1 read  x 0 @bank.c:10
T2 write x 5 @bank.c:20
T1 read  x 5 @bank.c:11
T1 end
)";
  judge::SiteTriple sites = lines(10, 20, 11);
  Result<JudgedRun> run = judge_run(path, sites, Pattern::RWR, {});
  ASSERT_TRUE(run.ok());
  EXPECT_TRUE(run.value().there);
  EXPECT_EQ(run.value().proof.judgement, judge::Judgement::NonAtomic);
  EXPECT_EQ(run.value().proof.name, "C_RWR");
  ASSERT_EQ(run.value().accesses.size(), 3u);
  EXPECT_EQ(run.value().unit, "withdraw");
  EXPECT_EQ(run.value().accesses[1].thread, "T2");
  EXPECT_EQ(run.value().accesses[2].value, "5");
  std::swap(sites.first, sites.second);
  EXPECT_FALSE(judge_run(path, sites, Pattern::RWR, {}).value().there) << "in execution order only";
  EXPECT_FALSE(program_of_trace(path).ok()) << "a text trace has no program to run";
  std::remove(path.c_str());
}

}  // namespace
}  // namespace cleave::confirm
