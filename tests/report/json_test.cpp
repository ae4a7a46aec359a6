#include "report/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/random.h"
#include "report/golden.h"
#include "report/samples.h"

namespace cleave::report {
namespace {

TEST(Json, HoldsEveryFieldOfTheContract) {
  const std::string text = to_json(sample_findings(), "0.1.0");
  const auto json = nlohmann::json::parse(text);
  const auto contract = nlohmann::json::parse(R"({"cleave": "0.1.0", "command": "predict", "program": "bank",
   "trace": "bank.cleave", "findings": [{
   "id": "CLV-3f9a12cc", "kind": "triple", "pattern": "RWW", "verdict": "confirmed",
   "variable": "Account::balance", "unit": "withdraw", "set": "Account",
   "accesses": [
     {"role": "first",  "thread": "T1", "op": "read",  "value": "20", "function": "Account::get", "file": "bank.cpp",
      "line": 12},
     {"role": "remote", "thread": "T2", "op": "write", "value": "5",  "function": "Account::set", "file": "bank.cpp",
      "line": 16},
     {"role": "second", "thread": "T1", "op": "write", "value": "10", "function": "Account::set", "file": "bank.cpp",
      "line": 16}],
   "stages": {"order": "kept", "locks": "kept", "filter": "dropped", "exact": "dropped", "symbolic": "sat"},
   "proof": "C_RWW", "witness": "witness-3f9a12cc.json"}]})");
  for (const char* field : {"cleave", "command", "program", "trace"})
    EXPECT_EQ(json[field], contract[field]) << field;
  EXPECT_EQ(json["stages"][0],
            nlohmann::json::parse(R"({"name": "patterns", "triples": 24, "sites": 9, "seconds": 0.01})"));
  EXPECT_EQ(json["stages"][1]["unknown"], 1);
  const auto &finding = json["findings"][0], &wanted = contract["findings"][0];
  for (const auto& [name, value] : wanted.items()) {
    if (name != "accesses") EXPECT_EQ(finding[name], value) << name;
  }
  for (size_t i = 0; i < 3; ++i) {
    for (const auto& [name, value] : wanted["accesses"][i].items())
      EXPECT_EQ(finding["accesses"][i][name], value);
  }
  EXPECT_EQ(json["findings"][2]["size"], 2);
  EXPECT_EQ(json["findings"][2]["edges"][1]["conflict"], "WW");
}

TEST(Json, SameBytesEveryTime) {
  EXPECT_EQ(to_json(sample_findings(), "0.1.0"), to_json(sample_findings(), "0.1.0"));
  expect_golden("findings.json", to_json(sample_findings(), "0.1.0"));
}

TEST(Json, ComesBackAsItWas) {
  const std::string text = to_json(sample_findings(), "0.1.0");
  Result<Findings> back = from_json(text, "f.json");
  ASSERT_TRUE(back.ok()) << back.error().sentence();
  EXPECT_EQ(to_json(back.value(), "0.1.0"), text);
  EXPECT_EQ(back.value().findings[0].accesses[1].locks, (std::vector<std::string>{"lock", "audit"}));
  EXPECT_EQ(back.value().findings[2].edges[0].second.line, 20u);
  EXPECT_EQ(back.value().findings[1].occurrences, 12u);
}

TEST(Json, BytesThatAreNotTextAreReplaced) {
  Findings findings = sample_findings();
  findings.findings[0].variable = "a\xff\x80z";
  Result<Findings> back = from_json(to_json(findings, "0.1.0"), "f.json");
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back.value().findings[0].variable, "a\xef\xbf\xbd\xef\xbf\xbdz");
}

TEST(Json, WrongInputGetsOneSentenceWithItsPlace) {
  auto sentence = [](std::string_view text) { return from_json(text, "f.json").error().sentence(); };
  EXPECT_EQ(sentence("not json"), "f.json: is not JSON; give a findings file that --json wrote");
  EXPECT_EQ(sentence("[1]"), "f.json: is JSON, but not a findings file; give a file that --json wrote");
  EXPECT_EQ(sentence(R"({"cleave":"1","findings":[{"kind":"triple","verdict":"sure"}]})"),
            "f.json: findings[0].verdict: `sure` is not a word of the findings file");
  EXPECT_EQ(
      sentence(R"({"cleave":"1","findings":[{"kind":"cycle","verdict":"confirmed","edges":[{"from":3}]}]})"),
      "f.json: findings[0].edges[0]: names a unit that is not in the list");
  EXPECT_EQ(sentence(R"({"cleave":"1","findings":[{"kind":"triple","verdict":"confirmed","id":5}]})"),
            "f.json: findings[0].id: is not a string");
  EXPECT_EQ(sentence(R"({"cleave":"1","findings":5})"), "f.json: findings: is not a list");
}

TEST(Json, DamagedFilesNeverCrash) {
  const std::string text = to_json(sample_findings(), "0.1.0");
  Random random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = text;
    for (uint64_t n = 1 + random.below(3); n > 0; --n) {
      const size_t at = random.below(damaged.size());
      switch (random.below(3)) {
        case 0:
          damaged[at] = "{}[]\",:0123456789-eatu\\"[random.below(23)];
          break;
        case 1:
          damaged.erase(at, 1 + random.below(20));
          break;
        default:
          damaged.insert(at, damaged.substr(random.below(damaged.size()), random.below(30)));
          break;
      }
    }
    Result<Findings> back = from_json(damaged, "f.json");
    if (back.ok()) to_json(back.value(), "0.1.0");
  }
}

}  // namespace
}  // namespace cleave::report
