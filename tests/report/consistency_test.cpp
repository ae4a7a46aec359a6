// A finding says the same in all its parts: the table, the sentence and the verdict.
#include <gtest/gtest.h>

#include "report/explain.h"
#include "report/samples.h"
#include "report/terminal.h"

namespace cleave::report {
namespace {

std::string shown(const Finding& finding) {
  Findings findings{.command = "predict"};
  findings.findings = {finding};
  return to_terminal(findings, {.width = 1000, .counts = false});
}

TEST(Consistent, AddressesAreHexadecimalInTheTableAndInTheSentence) {
  Finding finding = lost_update();
  finding.proof.clear();
  finding.accesses[0].value = finding.accesses[1].value = "140737488000000";
  const std::string text = shown(finding);
  EXPECT_EQ(text.find("140737488000000"), std::string::npos) << text;
  EXPECT_NE(text.find("on the strength of the 0x7ffffffa9400"), std::string::npos) << text;
}

TEST(Consistent, NumbersHaveTheirSignInTheTableAndInTheSentence) {
  Finding finding = lost_update();
  finding.accesses[1].value = "4294967295";
  finding.accesses[1].type = "int";
  const std::string text = shown(finding);
  EXPECT_EQ(text.find("4294967295"), std::string::npos) << text;
  EXPECT_NE(text.find("has written -1"), std::string::npos) << text;
}

TEST(Consistent, WhatWasRuledOutByARunDidHappen) {
  Finding finding = lost_update();
  finding.verdict = Verdict::Infeasible;
  finding.proof = finding.witness = "";
  EXPECT_NE(shown(finding).find("No execution does this."), std::string::npos);
  finding.stages["replay"] = "atomic";
  finding.note = "it happened, and a serial order explains that run: atomic after all";
  const std::string text = shown(finding);
  EXPECT_EQ(text.find("No execution does this."), std::string::npos) << text;
  EXPECT_NE(text.find("a serial order explains it"), std::string::npos) << text;
}

TEST(Consistent, AFailureIsToldOnceWithItsCounts) {
  const std::string text = shown(failing_run());
  EXPECT_NE(text.find("the program ended in a deadlock in 2 of 20 runs\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Seeds: 3, 7."), std::string::npos) << text;
  EXPECT_NE(text.find("T1 waits for lock, held by main"), std::string::npos) << text;
  EXPECT_NE(text.find("cleave replay bank.3.witness.json"), std::string::npos) << text;
  EXPECT_EQ(text.find("Found 2 times"), std::string::npos) << text;
}

TEST(Consistent, AFailureOfEveryRunSaysSo) {
  Finding finding = failing_run();
  finding.failure->failed = finding.failure->runs;
  EXPECT_NE(verdict_sentence(finding).find("in every run"), std::string::npos);
  finding.failure->first.clear();  // plans led these runs to a violation
  EXPECT_EQ(verdict_sentence(finding).find("in every run"), std::string::npos);
  EXPECT_NE(why(finding).find("20 directed runs"), std::string::npos) << why(finding);
}

}  // namespace
}  // namespace cleave::report
