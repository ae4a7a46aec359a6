// SARIF and the HTML page.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/golden.h"
#include "report/html.h"
#include "report/samples.h"
#include "report/sarif.h"

namespace cleave::report {
namespace {

std::optional<std::string> bank_source(std::string_view file, uint32_t line) {
  if (file != "bank.cpp" || line < 10 || line > 17) return std::nullopt;
  return "  line " + std::to_string(line) + " of <bank> & co;";
}

TEST(Sarif, LooksLikeThis) { expect_golden("findings.sarif", to_sarif(sample_findings(), "0.1.0")); }

TEST(Sarif, EveryResultHasItsRuleAndItsFlow) {
  const auto log = nlohmann::json::parse(to_sarif(sample_findings(), "0.1.0"));
  EXPECT_EQ(log["version"], "2.1.0");
  const auto& run = log["runs"][0];
  const auto& rules = run["tool"]["driver"]["rules"];
  ASSERT_EQ(run["results"].size(), 5u);
  for (const auto& result : run["results"]) {
    EXPECT_EQ(rules[result["ruleIndex"].get<size_t>()]["id"], result["ruleId"]);
    EXPECT_FALSE(result["message"]["text"].get<std::string>().empty());
  }
  const auto& flows = run["results"][0]["codeFlows"][0]["threadFlows"];
  ASSERT_EQ(flows.size(), 2u);
  EXPECT_EQ(flows[0]["id"], "T1");
  EXPECT_EQ(flows[0]["locations"][0]["executionOrder"], 1);
  EXPECT_EQ(flows[1]["locations"][0]["executionOrder"], 2);
  EXPECT_EQ(flows[0]["locations"][1]["executionOrder"], 3);
  EXPECT_EQ(run["results"][0]["level"], "error");
  EXPECT_EQ(run["results"][3]["level"], "note");
  EXPECT_EQ(run["results"][3].count("codeFlows"), 0u);
}

TEST(Sarif, PathsBecomeUris) {
  Finding finding = lost_update();
  finding.accesses[0].file = "/home/me/my bank#1.cpp";
  const auto log = nlohmann::json::parse(to_sarif({.findings = {finding}}, "0.1.0"));
  EXPECT_EQ(log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "file:///home/me/my%20bank%231.cpp");
}

TEST(Html, LooksLikeThis) {
  expect_golden("findings.html", to_html(sample_findings(), "0.1.0", bank_source));
}

TEST(Html, NeedsNothingElseAndEscapesEverything) {
  Finding finding = lost_update();
  finding.variable = "<script>alert(1)</script>";
  finding.accesses[0].function = "operator<\"'&";
  finding.id = "\"><b>";
  const std::string page = to_html({.program = "<i>", .findings = {finding}}, "0.1.0", bank_source);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("<i>"), std::string::npos);
  EXPECT_EQ(page.find("\"><b>"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(1)"), std::string::npos);
  EXPECT_NE(page.find("operator&lt;&quot;&#39;&amp;"), std::string::npos);
  EXPECT_NE(page.find("of &lt;bank&gt; &amp; co;"), std::string::npos);
  for (const char* outside : {"http://", "https://", "src=", "href=", "url(", "@import"}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
}

TEST(Html, NothingFoundIsSaid) {
  EXPECT_NE(to_html({}, "0.1.0", {}).find("Nothing found."), std::string::npos);
}

}  // namespace
}  // namespace cleave::report
