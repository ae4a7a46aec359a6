#include "findings/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

namespace cleave {
namespace {

constexpr std::array<std::string_view, 5> kVerdicts = {"infeasible", "candidate", "feasible", "witnessed",
                                                       "confirmed"};
constexpr std::array<std::string_view, 5> kKinds = {"triple", "cycle", "high-level-race", "stale-value",
                                                    "failure"};
constexpr std::array<std::string_view, 6> kPatterns = {"", "RWR", "RWW", "WWR", "WRW", "WWW"};
constexpr std::array<std::string_view, 6> kRoles = {"first", "remote", "second", "from", "to", "step"};
constexpr std::array<std::string_view, 5> kFailureEnds = {"exit", "signal", "deadlock", "livelock",
                                                          "time-limit"};

// FNV-1a, so that an id is the same on every machine and for ever.
uint32_t hash(std::string_view text, uint32_t state) {
  for (unsigned char c : text) state = (state ^ c) * 16777619u;
  return (state ^ 0xffu) * 16777619u;  // a separator, so that ("ab","c") is not ("a","bc")
}

using Place = std::tuple<std::string, uint32_t, std::string, std::string>;  // file, line, function, operation

Place place_of(const AccessReport& access) { return {access.file, access.line, access.function, access.op}; }

// What makes a finding another one, places first: the order of the source.
struct Identity {
  std::vector<Place> places;
  FindingKind kind;
  Pattern pattern;
  std::string variable, unit, set;
  std::vector<std::string> units;
  std::string failure;
  auto operator<=>(const Identity&) const = default;
};

Identity identity_of(const Finding& finding) {
  Identity identity{.places = {},
                    .kind = finding.kind,
                    .pattern = finding.pattern,
                    .variable = finding.variable,
                    .unit = finding.unit,
                    .set = finding.set,
                    .units = {},
                    .failure = {}};
  for (const AccessReport& access : finding.accesses) identity.places.push_back(place_of(access));
  for (const UnitReport& unit : finding.units) identity.units.push_back(unit.name);
  if (finding.failure)
    identity.failure = fmt::format("{} {}", word_of(finding.failure->end), finding.failure->number);
  if (finding.kind == FindingKind::Cycle) identity.variable = identity.unit = "";  // those of the run
  return identity;
}

}  // namespace

std::string_view word_of(Verdict verdict) { return kVerdicts[static_cast<size_t>(verdict)]; }
std::string_view word_of(FindingKind kind) { return kKinds[static_cast<size_t>(kind)]; }
std::string_view word_of(Pattern pattern) { return kPatterns[static_cast<size_t>(pattern)]; }
std::string_view word_of(Role role) { return kRoles[static_cast<size_t>(role)]; }
std::string_view word_of(FailureEnd end) { return kFailureEnds[static_cast<size_t>(end)]; }

bool parse(std::string_view word, Verdict* verdict) {
  for (size_t i = 0; i < kVerdicts.size(); ++i) {
    if (kVerdicts[i] == word) {
      *verdict = static_cast<Verdict>(i);
      return true;
    }
  }
  return false;
}

std::string finding_id(FindingKind kind, Pattern pattern, std::string_view variable,
                       const std::vector<std::string>& words) {
  uint32_t state = 2166136261u;
  state = hash(word_of(kind), state);
  state = hash(word_of(pattern), state);
  state = hash(variable, state);
  for (const std::string& word : words) state = hash(word, state);
  return fmt::format("CLV-{:08x}", state);
}

Finding failure_finding(std::string_view program, FailureReport failure, std::string witness) {
  Finding finding;
  finding.kind = FindingKind::Failure;
  finding.verdict = Verdict::Witnessed;
  finding.id = finding_id(FindingKind::Failure, Pattern::None, program,
                          {std::string(word_of(failure.end)), fmt::format("{}", failure.number)});
  finding.witness = std::move(witness);
  finding.occurrences = failure.failed;
  finding.failure = std::move(failure);
  return finding;
}

bool same_finding(const Finding& a, const Finding& b) { return identity_of(a) == identity_of(b); }

void separate_ids(std::vector<Finding>& findings) {
  std::map<std::string, std::map<Identity, std::vector<Finding*>>> by_id;
  for (Finding& finding : findings) by_id[finding.id][identity_of(finding)].push_back(&finding);
  std::set<std::string> used;
  for (const auto& [id, different] : by_id) used.insert(id);
  for (auto& [id, different] : by_id) {
    size_t rank = 0;
    for (auto& [identity, same] : different) {
      if (rank++ == 0) continue;
      std::string other = id;
      for (size_t salt = rank; used.contains(other); ++salt)
        other = finding_id(identity.kind, identity.pattern, id, {fmt::format("{}", salt)});
      used.insert(other);
      for (Finding* finding : same) finding->id = other;
    }
  }
}

}  // namespace cleave
