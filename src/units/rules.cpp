#include "units/rules.h"

namespace cleave::units {
namespace {

constexpr std::array<RuleInfo, kRules> kInfos = {{
#define CLEAVE_UNIT_RULE(name, id, sentence) {id, sentence},
#include "units/rules.def"
#undef CLEAVE_UNIT_RULE
}};

}  // namespace

const RuleInfo& rule_info(RuleId rule) { return kInfos[static_cast<size_t>(rule)]; }

size_t rule_of_id(std::string_view id) {
  for (size_t r = 0; r < kRules; ++r) {
    if (kInfos[r].id == id) return r;
  }
  return kRules;
}

}  // namespace cleave::units
