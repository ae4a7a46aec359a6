// What cleave.toml says about variables: [sets], and [fields] owned. Globs over names of globals and
// Type::field, where Type is the class that declares the field or the one of the outermost object; of an
// array without the index.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/core/trace.h"

namespace cleave {

// [sets] of cleave.toml: "Account.money" = ["Account::checking", "Account::savings"]. Fields give one such
// set an object.
struct SetDeclaration {
  std::string name;
  std::vector<std::string> members;
};

// A pattern that fits nothing that was accessed.
struct UnmatchedPattern {
  enum class Where : uint8_t { Sets, Owned, UnitFor };
  Where where = Where::Sets;
  std::string pattern;
  std::string set;  // of Sets: what it would belong to
};

// Remembers which patterns have ever fitted. O(patterns) a question.
class SetPatterns {
 public:
  SetPatterns(const std::vector<SetDeclaration>& declared, const std::vector<std::string>& owned);

  bool any() const { return !patterns_.empty(); }
  struct Said {
    const std::string* set = nullptr;  // the first that fits; null: none does
    bool owned = false;                // it owns what it points to
  };
  Said about(const VariableInfo& info, const Trace& tables);
  std::vector<UnmatchedPattern> unmatched() const;

 private:
  struct Pattern {
    std::string glob;
    std::string set;  // empty: owned
    bool matched = false;
  };
  std::vector<Pattern> patterns_;
};

}  // namespace cleave
