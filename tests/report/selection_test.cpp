#include "report/selection.h"

#include <gtest/gtest.h>

#include "report/samples.h"

namespace cleave::report {
namespace {

std::vector<std::string> ids(const Findings& findings) {
  std::vector<std::string> list;
  for (const Finding& finding : findings.findings) list.push_back(finding.id);
  return list;
}

Suppressions suppressions(std::string_view text) { return parse_suppressions(text, "s.txt").value(); }

TEST(Suppress, ByIdByVariableAndByGlob) {
  EXPECT_TRUE(suppressions("CLV-3f9a12cc").covers(lost_update()));
  EXPECT_TRUE(suppressions("# known\n  Account::balance  # benign\r\n").covers(lost_update()));
  EXPECT_TRUE(suppressions("Account::*").covers(lost_update()));
  EXPECT_TRUE(suppressions("*bal?nce").covers(lost_update()));
  EXPECT_FALSE(suppressions("balance\nAccount::bal").covers(lost_update()));
  EXPECT_FALSE(suppressions("CLV-00000000").covers(lost_update()));
  EXPECT_FALSE(suppressions("").covers(lost_update()));
}

TEST(Suppress, AMisspeltIdIsAnError) {
  EXPECT_EQ(parse_suppressions("x\nCLV-3f9a12c", "s.txt").error().sentence(),
            "s.txt:2: `CLV-3f9a12c` is not an id; ids are CLV- and eight hex digits");
}

TEST(Select, TakesOutCountsAndFails) {
  Findings findings = sample_findings();
  Finding known;
  known.id = "CLV-0badcafe";
  Selection selection{.suppressions = suppressions("total"), .baseline = {known}};
  const Selected selected = select(findings, selection);
  EXPECT_EQ(selected.suppressed, 1u);
  EXPECT_EQ(selected.known, 1u);
  EXPECT_TRUE(selected.fails);
  EXPECT_EQ(ids(findings), (std::vector<std::string>{"CLV-3f9a12cc", failing_run().id, "CLV-00000002"}));
  EXPECT_TRUE(selected.unmatched.empty());
}

TEST(Select, SaysWhichSuppressionsMatchNothing) {
  Findings findings = sample_findings();
  const Selected selected =
      select(findings, {.suppressions = suppressions("total\nno_such\nCLV-00000000\nCLV-3f9a12cc")});
  EXPECT_EQ(selected.unmatched, (std::vector<std::string>{"CLV-00000000", "no_such"}));
}

// One line with two accesses, or two insides of one container: a person cannot tell them apart.
TEST(Select, WhatIsOneToAPersonIsOneFinding) {
  Finding other = lost_update();
  other.verdict = Verdict::Candidate;
  Findings findings{.command = "predict"};
  findings.findings = {other, lost_update()};
  select(findings, {});
  ASSERT_EQ(findings.findings.size(), 1u);
  EXPECT_EQ(findings.findings[0].verdict, Verdict::Confirmed);
  EXPECT_EQ(findings.findings[0].occurrences, 2u);
  other.accesses[2].line = 99;
  findings.findings = {other, lost_update()};
  select(findings, {});
  EXPECT_EQ(findings.findings.size(), 2u);
}

Finding cycle_of(std::string id, std::string split, std::string set, size_t size) {
  Finding cycle;
  cycle.id = std::move(id);
  cycle.kind = FindingKind::Cycle;
  cycle.verdict = Verdict::Witnessed;
  cycle.unit = std::move(split);
  cycle.set = std::move(set);
  cycle.units.resize(size);
  cycle.split = 0;
  return cycle;
}

// Another run has the same mistake with other partners, in longer cycles.
TEST(Select, WhatIsKnownOfACycleHoldsForAllThatSplitTheSameUnitOnTheSameSet) {
  const Finding known = cycle_of("CLV-00000001", "take", "Pool", 2);
  const std::vector<Finding> seen = {
      cycle_of("CLV-00000002", "take", "Pool", 4), cycle_of("CLV-00000003", "take", "Pool+Stats", 3),
      cycle_of("CLV-00000004", "give", "Pool", 2), cycle_of("CLV-00000005", "take", "Stats", 2)};
  Findings findings;
  findings.findings = seen;
  EXPECT_EQ(select(findings, {.baseline = {known}}).known, 2u);
  EXPECT_EQ(ids(findings), (std::vector<std::string>{"CLV-00000004", "CLV-00000005"}));
  findings.findings = seen;
  EXPECT_EQ(select(findings, {.suppressions = suppressions("CLV-00000002")}).suppressed, 2u);
  EXPECT_EQ(ids(findings), (std::vector<std::string>{"CLV-00000004", "CLV-00000005"}));
}

TEST(Select, FailOnLooksAtWhatIsLeft) {
  Findings findings{.findings = {split_view(), dirty_read()}};
  EXPECT_FALSE(select(findings, {.fail_on = Verdict::Confirmed}).fails);
  EXPECT_TRUE(select(findings, {.fail_on = Verdict::Witnessed}).fails);
  EXPECT_FALSE(
      select(findings, {.suppressions = suppressions("total"), .fail_on = Verdict::Witnessed}).fails);
  EXPECT_EQ(findings.findings.size(), 1u);
}

TEST(Select, InfeasibleIsShownOnlyOnRequestAndNeverFails) {
  Finding ruled_out = lost_update();
  ruled_out.verdict = Verdict::Infeasible;
  Findings findings{.findings = {ruled_out}};
  EXPECT_FALSE(select(findings, {.keep_infeasible = true}).fails);
  EXPECT_EQ(findings.findings.size(), 1u);
  select(findings, {});
  EXPECT_TRUE(findings.findings.empty());
}

TEST(Select, TheInsideOfAContainerIsOneFindingAtAPlace) {
  Finding inside = lost_update();
  for (AccessReport& access : inside.accesses)
    access.stack = {"std::map::find /usr/include/map:3",
                    access.function + " bank.cpp:" + std::to_string(access.line)};
  inside.verdict = Verdict::Candidate;
  Finding confirmed = inside, elsewhere = inside;
  confirmed.verdict = Verdict::Confirmed;
  confirmed.occurrences = 4;
  elsewhere.accesses[2].line = 99;
  Findings findings;
  findings.findings = {inside, confirmed, elsewhere, lost_update(), lost_update()};
  select(findings, {});
  ASSERT_EQ(findings.findings.size(), 2u);
  EXPECT_EQ(findings.findings[0].occurrences, 7u);
  EXPECT_EQ(findings.findings[1].verdict, Verdict::Candidate);
  EXPECT_EQ(findings.findings[1].accesses[2].line, 99u);
  EXPECT_NE(findings.findings[0].id, findings.findings[1].id);
}

// `items_[key] = value`: the library makes the element and writes it, then the program does, both at this
// line.
TEST(Select, AnAccessInTheLibraryAndOneNextToItAreOneFinding) {
  Finding next_to = lost_update(), inside = lost_update();
  inside.accesses[1].stack = {"std::map::operator[] /usr/include/map:3",
                              inside.accesses[1].function + " bank.cpp:16"};
  Finding of_another_unit = inside;
  of_another_unit.id = "CLV-ffffffff";
  of_another_unit.unit = "another";
  for (const std::vector<Finding>& order :
       {std::vector{next_to, inside, of_another_unit}, std::vector{of_another_unit, next_to, inside},
        std::vector{inside, of_another_unit, next_to}}) {
    Findings findings;
    findings.findings = order;
    select(findings, {});
    ASSERT_EQ(findings.findings.size(), 1u);
    EXPECT_EQ(findings.findings[0].id, lost_update().id);
    EXPECT_EQ(findings.findings[0].occurrences, 3u);
  }
}

TEST(Sort, WorstVerdictFirstAndWwwLast) {
  Finding www = lost_update();
  www.pattern = Pattern::WWW;
  www.id = "CLV-11111111";
  www.variable = "a";
  Findings findings{.findings = {split_view(), www, dirty_read(), lost_update()}};
  sort_findings(findings);
  EXPECT_EQ(ids(findings),
            (std::vector<std::string>{"CLV-3f9a12cc", "CLV-11111111", "CLV-00000001", "CLV-00000002"}));
}

}  // namespace
}  // namespace cleave::report
