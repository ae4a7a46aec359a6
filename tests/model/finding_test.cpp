#include "model/finding.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace cleave
