// What SARIF 2.1.0 demands of a log, checked on what we write: required properties, types, the words that are
// allowed, and the references from one part to another. The numbers are those of the standard's sections.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "report/samples.h"
#include "report/sarif.h"

namespace cleave::report {
namespace {

using Json = nlohmann::json;

// Collects what is wrong, each with the path to it.
class SarifRules {
 public:
  explicit SarifRules(const Json& log) { check_log(log); }
  const std::vector<std::string>& broken() const { return broken_; }

 private:
  void demand(bool holds, const std::string& where, const std::string& what) {
    if (!holds) broken_.push_back(where + ": " + what);
  }
  // Only these properties; a validator with the published schema refuses others.
  void only(const Json& object, const std::string& where, const std::set<std::string>& allowed) {
    demand(object.is_object(), where, "is no object");
    if (!object.is_object()) return;
    for (const auto& [key, value] : object.items())
      demand(allowed.contains(key), where, "has a property " + key);
  }
  void text(const Json& object, const char* key, const std::string& where, bool required = true) {
    if (!object.contains(key)) return demand(!required, where, fmt::format("has no {}", key));
    demand(object[key].is_string() && !object[key].get<std::string>().empty(), where,
           fmt::format("{} is no text", key));
  }
  void word(const Json& object, const char* key, const std::string& where,
            const std::set<std::string>& allowed) {
    if (!object.contains(key)) return;
    demand(object[key].is_string() && allowed.contains(object[key]), where,
           fmt::format("{} is {}", key, object[key].dump()));
  }
  void number(const Json& object, const char* key, const std::string& where, int64_t least) {
    if (!object.contains(key)) return;
    demand(object[key].is_number_integer() && object[key].get<int64_t>() >= least, where,
           fmt::format("{} is {}", key, object[key].dump()));
  }
  template <typename Check>
  void each(const Json& object, const char* key, const std::string& where, size_t least, Check check) {
    if (!object.contains(key)) return demand(least == 0, where, fmt::format("has no {}", key));
    demand(object[key].is_array() && object[key].size() >= least, where,
           fmt::format("{} is no list of {}", key, least));
    if (!object[key].is_array()) return;
    for (size_t i = 0; i < object[key].size(); ++i)
      check(object[key][i], fmt::format("{}/{}/{}", where, key, i));
  }

  void check_log(const Json& log) {  // 3.13
    only(log, "", {"$schema", "version", "runs"});
    text(log, "$schema", "");
    demand(log.value("version", "") == "2.1.0", "", "version");
    each(log, "runs", "", 1, [this](const Json& run, const std::string& where) { check_run(run, where); });
  }
  void check_run(const Json& run, const std::string& where) {  // 3.14
    only(run, where, {"tool", "columnKind", "results"});
    demand(run.contains("tool") && run["tool"].contains("driver"), where, "has no tool.driver");
    word(run, "columnKind", where, {"utf16CodeUnits", "unicodeCodePoints"});
    if (!run.contains("tool") || !run["tool"].contains("driver")) return;
    only(run["tool"], where + "/tool", {"driver"});
    const Json& driver = run["tool"]["driver"];  // 3.19
    only(driver, where + "/tool/driver", {"name", "version", "rules"});
    text(driver, "name", where + "/tool/driver");
    text(driver, "version", where + "/tool/driver", false);
    each(driver, "rules", where + "/tool/driver", 0,
         [this](const Json& rule, const std::string& at) {  // 3.49
           only(rule, at, {"id", "name", "shortDescription"});
           text(rule, "id", at);
           text(rule, "name", at, false);
           check_message(rule, "shortDescription", at);
           demand(rules_.insert(rule.value("id", "")).second, at, "the id is taken");
           order_.push_back(rule.value("id", ""));
         });
    each(run, "results", where, 0,
         [this](const Json& result, const std::string& at) { check_result(result, at); });
  }
  void check_message(const Json& object, const char* key, const std::string& where) {  // 3.11, 3.12
    demand(object.contains(key), where, fmt::format("has no {}", key));
    if (!object.contains(key)) return;
    only(object[key], where + "/" + key, {"text"});
    text(object[key], "text", where + "/" + key);
    // 3.11.5: there are no arguments, so there must be no placeholder: braces come in pairs.
    const std::string said = object[key].value("text", "");
    for (size_t at = 0; at < said.size(); ++at) {
      if (said[at] != '{' && said[at] != '}') continue;
      demand(at + 1 < said.size() && said[at + 1] == said[at], where, "a single brace");
      ++at;
    }
  }
  void check_result(const Json& result, const std::string& where) {  // 3.27
    only(result, where,
         {"ruleId", "ruleIndex", "kind", "level", "message", "locations", "codeFlows", "partialFingerprints",
          "properties"});
    check_message(result, "message", where);
    text(result, "ruleId", where);
    number(result, "ruleIndex", where, 0);
    const size_t index = result.value("ruleIndex", size_t{0});
    demand(index < order_.size() && order_[index] == result.value("ruleId", ""), where,
           "ruleIndex is another rule's");
    word(result, "level", where, {"none", "note", "warning", "error"});
    word(result, "kind", where, {"pass", "open", "informational", "notApplicable", "review", "fail"});
    // 3.27.9, 3.27.10: a level of its own only for what failed.
    const bool failed = result.value("kind", "fail") == "fail";
    demand(failed == (result.value("level", "warning") != "none"), where,
           "level and kind contradict each other");
    each(result, "locations", where, 0,
         [this](const Json& at, const std::string& path) { check_location(at, path); });
    each(result, "codeFlows", where, 0,
         [this](const Json& flow, const std::string& path) { check_flow(flow, path); });
    if (!result.contains("partialFingerprints")) return;
    for (const auto& [key, value] : result["partialFingerprints"].items()) {  // 3.27.17, 3.5.4.2
      demand(value.is_string() && key.find("/v") != key.npos, where, "fingerprint " + key);
    }
  }
  void check_location(const Json& location, const std::string& where) {  // 3.28
    only(location, where, {"physicalLocation", "logicalLocations", "message"});
    if (location.contains("message")) check_message(location, "message", where);
    if (location.contains("physicalLocation")) {  // 3.29
      const Json& physical = location["physicalLocation"];
      only(physical, where, {"artifactLocation", "region"});
      demand(physical.contains("artifactLocation"), where, "a place in no file");
      if (physical.contains("artifactLocation")) check_uri(physical["artifactLocation"], where);
      if (physical.contains("region")) {  // 3.30
        only(physical["region"], where, {"startLine"});
        demand(physical["region"].contains("startLine"), where, "a region without a beginning");
        number(physical["region"], "startLine", where, 1);
      }
    }
    each(location, "logicalLocations", where, 0, [this](const Json& logical, const std::string& at) {  // 3.33
      only(logical, at, {"fullyQualifiedName", "kind"});
      text(logical, "fullyQualifiedName", at);
      text(logical, "kind", at, false);
    });
  }
  void check_uri(const Json& artifact, const std::string& where) {  // 3.4, 3.10
    only(artifact, where, {"uri"});
    text(artifact, "uri", where);
    const std::string uri = artifact.value("uri", "");
    const std::string plain = "-._~/+%:";
    for (char c : uri)
      demand(std::isalnum(static_cast<unsigned char>(c)) || plain.find(c) != plain.npos, where, uri);
    demand(!uri.starts_with("/") && (uri.find(':') == uri.npos || uri.starts_with("file:///")), where, uri);
    if (uri.starts_with("file:")) demand((uri + "/").find("/../") == uri.npos, where, uri + " climbs");
  }
  void check_flow(const Json& flow, const std::string& where) {  // 3.36
    only(flow, where, {"message", "threadFlows"});
    if (flow.contains("message")) check_message(flow, "message", where);
    std::set<std::string> ids;
    each(flow, "threadFlows", where, 1, [&](const Json& thread, const std::string& at) {  // 3.37
      only(thread, at, {"id", "locations"});
      text(thread, "id", at, false);
      if (thread.contains("id")) demand(ids.insert(thread["id"]).second, at, "two flows of one thread");
      each(thread, "locations", at, 1, [this](const Json& step, const std::string& path) {  // 3.38
        only(step, path, {"location", "executionOrder", "importance"});
        if (step.contains("location")) check_location(step["location"], path);
        demand(step.contains("location"), path, "is nowhere");
        number(step, "executionOrder", path, 0);
        word(step, "importance", path, {"important", "essential", "unimportant"});
      });
    });
  }

  std::vector<std::string> broken_;
  std::set<std::string> rules_;
  std::vector<std::string> order_;
};

std::vector<std::string> broken_rules(const Findings& findings) {
  return SarifRules(Json::parse(to_sarif(findings, "0.1.0"))).broken();
}

using Broken = std::vector<std::string>;

TEST(SarifRules, HoldForTheSamples) { EXPECT_EQ(broken_rules(sample_findings()), Broken{}); }

TEST(SarifRules, HoldWhereNothingWasFound) { EXPECT_EQ(broken_rules({}), Broken{}); }

TEST(SarifRules, HoldForEveryVerdictKindAndPattern) {
  Findings findings;
  for (Verdict verdict :
       {Verdict::Infeasible, Verdict::Candidate, Verdict::Feasible, Verdict::Witnessed, Verdict::Confirmed}) {
    for (Pattern pattern :
         {Pattern::None, Pattern::RWR, Pattern::RWW, Pattern::WWR, Pattern::WRW, Pattern::WWW}) {
      findings.findings.push_back(lost_update());
      findings.findings.back().verdict = verdict;
      findings.findings.back().pattern = pattern;
    }
    for (FindingKind kind : {FindingKind::Cycle, FindingKind::HighLevelRace, FindingKind::StaleValue}) {
      findings.findings.push_back(cycle());
      findings.findings.back().verdict = verdict;
      findings.findings.back().kind = kind;
    }
  }
  EXPECT_EQ(broken_rules(findings), Broken{});
}

TEST(SarifRules, HoldForAwkwardNamesAndPlaces) {
  Finding finding = lost_update();
  finding.unit = finding.accesses[0].function = "{anonymous}::run<(lambda at a.cpp:3:7)>";
  finding.variable = "slots[{0}]";
  finding.accesses[0].file = "/src/build/../my bank/%41?.cpp";
  finding.accesses[1].file = "../src/bank.cpp";
  finding.accesses[2].file.clear();
  finding.accesses[2].line = 0;
  finding.accesses[2].function.clear();
  finding.accesses[2].thread.clear();
  EXPECT_EQ(broken_rules({.findings = {finding}}), Broken{});
  finding.accesses[0].line = 0;
  finding.accesses.resize(1);
  EXPECT_EQ(broken_rules({.findings = {finding}}), Broken{});
  finding.accesses.clear();
  EXPECT_EQ(broken_rules({.findings = {finding}}), Broken{});
}

// A cycle is shown where the unit that was split was, and each access once.
TEST(Sarif, ACycleStandsAtTheUnitThatWasSplit) {
  Finding finding = cycle();
  finding.split = 1;
  finding.hints = {"if swap is not meant to be atomic"};
  finding.edges[1].second = finding.edges[0].first;
  const Json log = Json::parse(to_sarif({.findings = {finding}}, "0.1.0"));
  const Json& result = log["runs"][0]["results"][0];
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["region"]["startLine"], 22);
  EXPECT_EQ(result["properties"]["hints"], Json::array({"if swap is not meant to be atomic"}));
  std::vector<std::pair<std::string, int>> steps;
  for (const Json& thread : result["codeFlows"][0]["threadFlows"]) {
    for (const Json& step : thread["locations"])
      steps.emplace_back(thread["id"], step["location"]["physicalLocation"]["region"]["startLine"]);
  }
  EXPECT_EQ(steps, (std::vector<std::pair<std::string, int>>{{"T2", 22}, {"T2", 20}, {"T1", 8}}));
}

TEST(SarifRules, AreBrokenByWhatBreaksThem) {
  const Json good = Json::parse(to_sarif(sample_findings(), "0.1.0"));
  auto breaks = [&good](const char* path, Json value) {
    Json log = good;
    log[Json::json_pointer(path)] = std::move(value);
    return !SarifRules(log).broken().empty();
  };
  EXPECT_TRUE(breaks("/version", "2.0.0"));
  EXPECT_TRUE(breaks("/runs/0/tool", Json::object()));
  EXPECT_TRUE(breaks("/runs/0/results/0/message", Json::object()));
  EXPECT_TRUE(breaks("/runs/0/results/0/message/text", "a {0}"));
  EXPECT_TRUE(breaks("/runs/0/results/0/level", "fatal"));
  EXPECT_TRUE(breaks("/runs/0/results/0/kind", "pass"));
  EXPECT_TRUE(breaks("/runs/0/results/0/ruleIndex", 0));
  EXPECT_TRUE(breaks("/runs/0/results/0/locations/0/physicalLocation/region/startLine", 0));
  EXPECT_TRUE(breaks("/runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri", "my bank.cpp"));
  EXPECT_TRUE(breaks("/runs/0/results/0/codeFlows/0/threadFlows", Json::array()));
  EXPECT_TRUE(breaks("/runs/0/results/0/codeFlows/0/threadFlows/0/locations/0/importance", "high"));
}

}  // namespace
}  // namespace cleave::report
