#include "units/set_patterns.h"

#include "base/glob.h"

namespace cleave {
namespace {

// slots[3] and slots_[] are slots and slots_.
std::string_view without_index(std::string_view name) {
  return name.ends_with(']') ? name.substr(0, name.rfind('[')) : name;
}

bool fits(std::string_view glob, std::string_view name) {
  if (name.empty()) return false;
  const std::string_view whole = without_index(name);
  return matches_glob(glob, name) || (whole.size() < name.size() && matches_glob(glob, whole));
}

}  // namespace

SetPatterns::SetPatterns(const std::vector<SetDeclaration>& declared, const std::vector<std::string>& owned) {
  for (const SetDeclaration& declaration : declared) {
    for (const std::string& member : declaration.members) patterns_.push_back({member, declaration.name});
  }
  for (const std::string& field : owned) patterns_.push_back({field, ""});
}

SetPatterns::Said SetPatterns::about(const VariableInfo& info, const Trace& tables) {
  Said said;
  if (patterns_.empty()) return said;
  std::string field;
  if (info.object != kNone<ObjectId>) field = tables.object(info.object).type + "::" + info.field;
  for (Pattern& pattern : patterns_) {
    const bool owned = pattern.set.empty();
    if (pattern.matched && (owned ? said.owned : said.set != nullptr)) continue;
    if (!fits(pattern.glob, field) && !fits(pattern.glob, info.name)) continue;
    pattern.matched = true;
    if (owned)
      said.owned = true;
    else if (said.set == nullptr)
      said.set = &pattern.set;
  }
  return said;
}

std::vector<UnmatchedPattern> SetPatterns::unmatched() const {
  std::vector<UnmatchedPattern> result;
  for (const Pattern& pattern : patterns_) {
    using Where = UnmatchedPattern::Where;
    if (!pattern.matched)
      result.push_back({pattern.set.empty() ? Where::Owned : Where::Sets, pattern.glob, pattern.set});
  }
  return result;
}

}  // namespace cleave
