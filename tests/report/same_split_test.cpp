#include "report/same_split.h"

#include <gtest/gtest.h>

#include "report/html.h"
#include "report/samples.h"
#include "report/terminal.h"

namespace cleave::report {
namespace {

// A cycle of `units` in which the first is split, between lines 10 and `after`.
Finding cycle_of(const std::string& id, const std::vector<std::string>& units, const std::string& set,
                 uint32_t after = 20) {
  Finding finding{
      .id = id, .kind = FindingKind::Cycle, .verdict = Verdict::Witnessed, .unit = units[0], .set = set};
  for (uint32_t i = 0; i < units.size(); ++i) {
    const bool last = i + 1 == units.size();
    finding.units.push_back({units[i], "T" + std::to_string(i)});
    EdgeReport edge{.from = i, .to = last ? 0 : i + 1, .variable = set + "::field", .conflict = "RW"};
    edge.first = access_report(Role::From, finding.units[i].thread, "read", "0", units[i], i == 0 ? 10 : 50);
    edge.second = access_report(Role::To, "T" + std::to_string(edge.to), "write", "1", units[edge.to],
                                last ? after : 50);
    finding.edges.push_back(std::move(edge));
  }
  finding.split = 0;
  return finding;
}

Findings several() {
  return {.command = "check",
          .findings = {cycle_of("CLV-00000001", {"take", "put"}, "Pool"),
                       cycle_of("CLV-00000002", {"take", "put", "grow"}, "Pool"),
                       cycle_of("CLV-00000003", {"take", "put", "put", "put"}, "Pool+Stats", 30),
                       cycle_of("CLV-00000004", {"put", "take"}, "Pool"),
                       cycle_of("CLV-00000005", {"take", "put"}, "Other")}};
}

TEST(SameSplit, AUnitThatIsSplitOnASetIsOneGroup) {
  const Findings findings = several();
  const std::vector<SameSplit> groups = same_splits(findings.findings);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].shown, 0u);
  EXPECT_EQ(groups[0].others, (std::vector<size_t>{1, 2}));
  EXPECT_EQ(groups[1].shown, 3u) << "another unit is split";
  EXPECT_EQ(groups[2].shown, 4u) << "on another set";
  EXPECT_EQ(others_sentence(findings.findings, groups[0], "--all shows"),
            "2 more cycles split take on Pool, of 3 to 4 units, with grow; also between bank.cpp:10 and "
            "bank.cpp:30; --all shows them.");
  EXPECT_EQ(others_sentence(findings.findings, groups[1], "--all shows"), "");
}

TEST(SameSplit, AFindingThatDoesNotSayWhoWasSplitStandsAlone) {
  std::vector<Finding> findings = {cycle(), cycle(), lost_update(), lost_update()};
  EXPECT_EQ(same_splits(findings).size(), 4u);
}

TEST(SameSplit, TheTerminalShowsTheShortestAndAllOnRequest) {
  const std::string some = to_terminal(several(), {.width = 200}),
                    all = to_terminal(several(), {.width = 200, .all_cycles = true});
  for (const char* id : {"CLV-00000001", "CLV-00000004", "CLV-00000005"})
    EXPECT_NE(some.find(id), std::string::npos) << id;
  for (const char* id : {"CLV-00000002", "CLV-00000003"}) {
    EXPECT_EQ(some.find(id), std::string::npos) << id;
    EXPECT_NE(all.find(id), std::string::npos) << id;
  }
  EXPECT_NE(some.find("2 more cycles split take on Pool"), std::string::npos) << some;
  EXPECT_NE(some.find("3 findings: 3 witnessed; 2 more cycles of the same\n"), std::string::npos) << some;
  EXPECT_NE(all.find("5 findings: 5 witnessed\n"), std::string::npos) << all;
  EXPECT_EQ(all.find("more cycles"), std::string::npos);
}

TEST(SameSplit, ThePageHasThemAllFolded) {
  const std::string page = to_html(several(), "0.1.0", {});
  for (const Finding& finding : several().findings)
    EXPECT_NE(page.find("id=\"" + finding.id + "\""), std::string::npos) << finding.id;
  EXPECT_NE(page.find("<details><summary>2 more cycles split take on Pool"), std::string::npos);
}

TEST(SameSplit, ACycleIsToldFromTheUnitThatWasSplitOn) {
  Finding finding = cycle_of("CLV-00000001", {"a", "b", "c"}, "S");
  finding.split = 2;
  const std::string text = to_terminal({.findings = {finding}}, {.width = 200, .theory = true});
  EXPECT_LT(text.find("T2 c --RW"), text.find("T0 a --RW")) << text;
}

TEST(Hints, AreToldWithTheirLines) {
  Finding finding = cycle_of("CLV-00000001", {"a", "b"}, "S");
  finding.hints = {"say so:\n[units]\nnot_atomic = [\"a\"]"};
  const std::string text = to_terminal({.findings = {finding}}, {.width = 80});
  EXPECT_NE(text.find("  hint: say so:\n    [units]\n    not_atomic = [\"a\"]\n"), std::string::npos) << text;
  const std::string page = to_html({.findings = {finding}}, "0.1.0", {});
  EXPECT_NE(page.find("<pre>[units]\nnot_atomic = [&quot;a&quot;]\n</pre>"), std::string::npos);
}

}  // namespace
}  // namespace cleave::report
