#include "model/finding.h"

#include <fmt/format.h>

#include <array>

namespace cleave {
namespace {

constexpr std::array<std::string_view, 5> kVerdicts = {"infeasible", "candidate", "feasible", "witnessed",
                                                       "confirmed"};
constexpr std::array<std::string_view, 4> kKinds = {"triple", "cycle", "high-level-race", "stale-value"};
constexpr std::array<std::string_view, 6> kPatterns = {"", "RWR", "RWW", "WWR", "WRW", "WWW"};
constexpr std::array<std::string_view, 5> kRoles = {"first", "remote", "second", "from", "to"};

// FNV-1a, so that an id is the same on every machine and for ever.
uint32_t hash(std::string_view text, uint32_t state) {
  for (unsigned char c : text) state = (state ^ c) * 16777619u;
  return (state ^ 0xffu) * 16777619u;  // a separator, so that ("ab","c") is not ("a","bc")
}

}  // namespace

std::string_view word_of(Verdict verdict) { return kVerdicts[static_cast<size_t>(verdict)]; }
std::string_view word_of(FindingKind kind) { return kKinds[static_cast<size_t>(kind)]; }
std::string_view word_of(Pattern pattern) { return kPatterns[static_cast<size_t>(pattern)]; }
std::string_view word_of(Role role) { return kRoles[static_cast<size_t>(role)]; }

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
                       const std::vector<std::string>& functions) {
  uint32_t state = 2166136261u;
  state = hash(word_of(kind), state);
  state = hash(word_of(pattern), state);
  state = hash(variable, state);
  for (const std::string& function : functions) state = hash(function, state);
  return fmt::format("CLV-{:08x}", state);
}

}  // namespace cleave
