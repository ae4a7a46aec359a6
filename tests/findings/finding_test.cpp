#include "findings/finding.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace cleave {
namespace {

TEST(FindingId, DependsOnRuleFunctionsVariableAndPatternOnly) {
  std::string id = finding_id(FindingKind::Triple, Pattern::RWW, "Account::balance", {"get", "set", "set"});
  EXPECT_EQ(id, finding_id(FindingKind::Triple, Pattern::RWW, "Account::balance", {"get", "set", "set"}));
  EXPECT_NE(id, finding_id(FindingKind::Triple, Pattern::RWR, "Account::balance", {"get", "set", "set"}));
  EXPECT_NE(id, finding_id(FindingKind::Triple, Pattern::RWW, "Account::balance", {"get", "set"}));
  EXPECT_NE(id, finding_id(FindingKind::Triple, Pattern::RWW, "Account::savings", {"get", "set", "set"}));
  EXPECT_EQ(id.size(), 12u);
}

Finding at_lines(uint32_t first, uint32_t remote, uint32_t second) {
  Finding finding;
  finding.id = "CLV-00000001";
  finding.pattern = Pattern::RWW;
  for (uint32_t line : {first, remote, second})
    finding.accesses.push_back({.op = "read", .function = "f", .file = "a.c", .line = line});
  return finding;
}

std::map<uint32_t, std::string> ids_by_line(std::vector<Finding> findings) {
  separate_ids(findings);
  std::map<uint32_t, std::string> ids;
  for (const Finding& finding : findings) ids[finding.accesses[0].line] = finding.id;
  return ids;
}

TEST(SeparateIds, DifferentFindingsNeverShareOne) {
  const auto ids = ids_by_line({at_lines(30, 1, 2), at_lines(10, 1, 2), at_lines(20, 1, 2)});
  EXPECT_EQ(ids.at(10), "CLV-00000001");  // the first in the source keeps it
  std::set<std::string> different;
  for (const auto& [line, id] : ids) different.insert(id);
  EXPECT_EQ(different.size(), 3u);
}

TEST(SeparateIds, DoNotDependOnTheOrderNorOnLineNumbers) {
  const auto ids = ids_by_line({at_lines(10, 1, 2), at_lines(20, 1, 2), at_lines(30, 1, 2)});
  EXPECT_EQ(ids, ids_by_line({at_lines(30, 1, 2), at_lines(20, 1, 2), at_lines(10, 1, 2)}));
  const auto moved = ids_by_line({at_lines(110, 1, 2), at_lines(121, 1, 2), at_lines(140, 1, 2)});
  EXPECT_EQ(ids.at(20), moved.at(121));
  EXPECT_EQ(ids.at(30), moved.at(140));
}

TEST(SeparateIds, TheSameFindingKeepsItsId) {
  std::vector<Finding> findings = {at_lines(10, 1, 2), at_lines(10, 1, 2)};
  separate_ids(findings);
  EXPECT_EQ(findings[0].id, findings[1].id);
}

TEST(SeparateIds, FailuresAreToldApartByTheWayTheyFail) {
  const Finding exit = failure_finding("bank", {.end = FailureEnd::Exit, .number = 1, .failed = 3}, "");
  const Finding again =
      failure_finding("bank", {.end = FailureEnd::Exit, .number = 1, .failed = 7}, "w.json");
  const Finding crash = failure_finding("bank", {.end = FailureEnd::Signal, .number = 11}, "");
  EXPECT_EQ(exit.id, again.id);
  EXPECT_NE(exit.id, crash.id);
}

}  // namespace
}  // namespace cleave
