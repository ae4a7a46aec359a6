#include "report/sarif.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "report/explain.h"

namespace cleave::report {
namespace {

using Json = nlohmann::ordered_json;

struct Rule {
  std::string_view id, name, text;
};

// One rule for each thing a finding can be; a finding's ruleIndex counts in this list.
constexpr std::array<Rule, 10> kRules = {{
    {"cleave/RWR", "UnrepeatableRead",
     "A unit reads a location twice and another thread writes it in between."},
    {"cleave/RWW", "LostUpdate",
     "A unit reads and then writes a location that another thread writes in between."},
    {"cleave/WWR", "OverwrittenBeforeReadBack",
     "A unit writes a location and reads it back after another thread has written it."},
    {"cleave/WRW", "DirtyRead",
     "Another thread reads a value that a unit writes on the way to its last one."},
    {"cleave/WWW", "InterleavedWrites", "Another thread's write falls between two writes of a unit."},
    {"cleave/cycle", "UnserializableUnits",
     "Units conflict with each other in a circle: no serial order has them."},
    {"cleave/high-level-race", "HighLevelDataRace",
     "Locations that are taken together in one place are taken one by one in another."},
    {"cleave/stale-value", "StaleValue", "A value from one critical section is used in a later one."},
    {"cleave/triple", "UnserializableTriple",
     "Another thread's access falls between two accesses of a unit."},
    {"cleave/failure", "FailingRun", "The program failed when it was run."},
}};

std::string rule_id(const Finding& finding) {
  if (finding.kind == FindingKind::Triple && finding.pattern != Pattern::None) {
    return fmt::format("cleave/{}", word_of(finding.pattern));
  }
  return fmt::format("cleave/{}", word_of(finding.kind));
}

std::string_view level_of(Verdict verdict) {
  constexpr std::array<std::string_view, 5> kLevels = {"none", "note", "warning", "error", "error"};
  return kLevels[static_cast<size_t>(verdict)];
}

// A message: braces would be placeholders, so they are doubled (3.11.5).
Json message_of(std::string_view text) {
  std::string doubled;
  for (char c : text) doubled.append(c == '{' || c == '}' ? 2 : 1, c);
  return {{"text", std::move(doubled)}};
}

// A path as a URI reference: absolute paths with their scheme and without `..` (3.10.2), everything unusual
// escaped.
std::string uri_of(std::string_view file) {
  const std::string path = std::filesystem::path(file).lexically_normal().string();
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/+").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

Json location_of(const AccessReport& access, const std::string& text) {
  Json location;
  if (!access.file.empty()) {
    Json& physical = location["physicalLocation"];
    physical["artifactLocation"]["uri"] = uri_of(access.file);
    if (access.line != 0) physical["region"]["startLine"] = access.line;
  }
  if (!access.function.empty()) {
    location["logicalLocations"] =
        Json::array({{{"fullyQualifiedName", access.function}, {"kind", "function"}}});
  }
  location["message"] = message_of(text);
  return location;
}

bool same_access(const AccessReport& a, const AccessReport& b) {
  return a.thread == b.thread && a.op == b.op && a.variable == b.variable && a.value == b.value &&
         a.stack == b.stack && a.file == b.file && a.line == b.line;
}

// All accesses of a finding in execution order; of a cycle from the unit that was split on, which the finding
// is about.
std::vector<const AccessReport*> accesses_of(const Finding& finding) {
  std::vector<const AccessReport*> list;
  auto add = [&](const AccessReport& access) {
    if (!access.op.empty()) list.push_back(&access);
  };
  for (const AccessReport& access : finding.accesses) add(access);
  const size_t first = finding.split < finding.edges.size() ? finding.split : 0;
  for (size_t i = 0; i < finding.edges.size(); ++i) {
    const EdgeReport& edge = finding.edges[(first + i) % finding.edges.size()];
    // An access that ends one edge and begins the next is told once.
    if (i == 0 || list.empty() || !same_access(*list.back(), edge.first)) add(edge.first);
    add(edge.second);
  }
  return list;
}

Json code_flow_of(const Finding& finding, const std::vector<const AccessReport*>& accesses) {
  Json flow;
  if (std::string reason = why(finding); !reason.empty()) flow["message"] = message_of(reason);
  std::vector<std::string> threads;
  for (const AccessReport* access : accesses) {
    if (std::find(threads.begin(), threads.end(), access->thread) == threads.end())
      threads.push_back(access->thread);
  }
  for (const std::string& thread : threads) {
    Json thread_flow;
    if (!thread.empty()) thread_flow["id"] = thread;
    int order = 0;
    for (const AccessReport* access : accesses) {
      ++order;
      if (access->thread != thread) continue;
      const std::string text = fmt::format("{}: {}", access->thread, operation(*access, finding.variable));
      Json step;
      step["location"] = location_of(*access, text);
      // The edges of a cycle are each in order, but not one after the other.
      if (finding.edges.empty()) step["executionOrder"] = order;
      step["importance"] = access->role == Role::Remote ? "essential" : "important";
      thread_flow["locations"].push_back(std::move(step));
    }
    flow["threadFlows"].push_back(std::move(thread_flow));
  }
  return flow;
}

Json result_of(const Finding& finding) {
  Json result;
  const std::string id = rule_id(finding);
  result["ruleId"] = id;
  for (size_t i = 0; i < kRules.size(); ++i) {
    if (kRules[i].id == id) result["ruleIndex"] = i;
  }
  // The format wants `kind` to be other than "fail" exactly when the level is "none".
  if (finding.verdict == Verdict::Infeasible) result["kind"] = "pass";
  result["level"] = level_of(finding.verdict);
  result["message"] =
      message_of(fmt::format("{}. {} {}", headline(finding), why(finding), verdict_sentence(finding)));
  const std::vector<const AccessReport*> accesses = accesses_of(finding);
  if (!accesses.empty()) {
    result["locations"] =
        Json::array({location_of(*accesses.front(), operation(*accesses.front(), finding.variable))});
    result["codeFlows"] = Json::array({code_flow_of(finding, accesses)});
  }
  result["partialFingerprints"]["cleaveFindingId/v1"] = finding.id;
  Json& properties = result["properties"];
  properties["verdict"] = word_of(finding.verdict);
  if (!finding.variable.empty()) properties["variable"] = finding.variable;
  if (!finding.unit.empty()) properties["unit"] = finding.unit;
  if (!finding.proof.empty()) properties["proof"] = finding.proof;
  if (!finding.hints.empty()) properties["hints"] = finding.hints;
  if (std::string command = replay_command(finding); !command.empty()) properties["replay"] = command;
  if (std::string command = explain_command(finding); !command.empty()) properties["explain"] = command;
  return result;
}

}  // namespace

std::string to_sarif(const Findings& findings, std::string_view version) {
  Json run;
  Json& driver = run["tool"]["driver"];
  driver["name"] = "Cleave";
  driver["version"] = version;
  for (const Rule& rule : kRules) {
    Json out;
    out["id"] = rule.id;
    out["name"] = rule.name;
    out["shortDescription"]["text"] = rule.text;
    driver["rules"].push_back(std::move(out));
  }
  run["columnKind"] = "utf16CodeUnits";
  run["results"] = Json::array();
  for (const Finding& finding : findings.findings) run["results"].push_back(result_of(finding));
  Json log;
  log["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  log["version"] = "2.1.0";
  log["runs"] = Json::array({std::move(run)});
  return log.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace cleave::report
