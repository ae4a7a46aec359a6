// --units and --config, turned into what the engines take.
#pragma once

#include "base/result.h"
#include "cli/common.h"
#include "model/config.h"
#include "model/sets.h"
#include "model/units.h"

namespace cleave::cli {

struct UnitsAndSets {
  UnitOptions units;
  SetOptions sets;
};

// A cleave.toml in the working directory is taken when --config is not given.
Result<UnitsAndSets> units_and_sets(const CommonOptions& options);
// A sentence for each pattern that is about functions and fits none that ran: with a slip of the pen nothing
// would be found.
std::vector<std::string> unmatched_functions(const UnitOptions& units, const Trace& tables);
// And for each that is about variables and sets, and fits nothing that was accessed.
std::vector<std::string> unmatched_sets(const std::vector<UnmatchedPattern>& patterns);

}  // namespace cleave::cli
