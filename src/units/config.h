// cleave.toml: units and sets without touching the source (docs/contract.md).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "units/sets.h"
#include "units/units.h"

namespace cleave {

struct Config {
  std::vector<std::string> atomic, not_atomic;  // [units]
  std::vector<UnitFor> unitfor;                 // [units]
  std::vector<SetDeclaration> sets;             // [sets], in the order of their names
  std::vector<std::string> owned;               // [fields]
};

// `place` names the text in errors.
Result<Config> parse_config(const std::string& text, const std::string& place);
Result<Config> read_config(const std::string& path);

}  // namespace cleave
