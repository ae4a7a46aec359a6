// The rules by which causal units are found, one list. Each has an id for switches and files, and a sentence
// for people.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace cleave::units {

enum class RuleId : uint8_t {
#define CLEAVE_UNIT_RULE(name, id, sentence) name,
#include "units/rules.def"
#undef CLEAVE_UNIT_RULE
};

struct RuleInfo {
  std::string_view id, sentence;
};
const RuleInfo& rule_info(RuleId rule);
inline constexpr size_t kRules = 0
#define CLEAVE_UNIT_RULE(name, id, sentence) +1
#include "units/rules.def"
#undef CLEAVE_UNIT_RULE
    ;
// The rule with that id, or kRules.
size_t rule_of_id(std::string_view id);

// Which rules are in force: all unless switched off.
struct RuleSwitches {
  std::array<bool, kRules> off{};
  bool on(RuleId rule) const { return !off[static_cast<size_t>(rule)]; }
};

}  // namespace cleave::units
