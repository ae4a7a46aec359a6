// --units and --config, turned into what the engines take.
#pragma once

#include "base/result.h"
#include "cli/common.h"
#include "trace/recorded/reader.h"
#include "units/config.h"
#include "units/find.h"
#include "units/sets.h"
#include "units/units.h"

namespace cleave::cli {

struct UnitsAndSets {
  UnitOptions units;
  SetOptions sets;
};

// A cleave.toml in the working directory is taken when --config is not given.
Result<UnitsAndSets> units_and_sets(const CommonOptions& options);
// A trace with its records; a text trace has none.
Result<RecordedTrace> load_with_records(const std::string& path);
// With what causal units need of the program, if they are asked for. An Error when that is not to be had. A
// trace without records has no program: there critical sections take their place (kNoRecords).
inline constexpr const char* kNoRecords =
    "the trace has no program, so nothing shows what depends on what: units are critical sections, not "
    "causal";
Result<units::UnitSources> unit_sources(const UnitOptions& options, const RecordedTrace& recorded);
// The globs of --units functions:GLOB that fit no function that ran. A slip of the pen would find nothing:
// that is wrong usage.
std::vector<std::string> unmatched_units(const UnitOptions& units, const Trace& tables);
// The sentence about them, with exit status 2; what was found is put out before, nothing is lost.
int unmatched_units_error(const std::vector<std::string>& globs);
// A sentence for each pattern of cleave.toml that is about functions and fits none that ran.
std::vector<std::string> unmatched_functions(const UnitOptions& units, const Trace& tables);
// And for each that is about variables and sets, and fits nothing that was accessed.
std::vector<std::string> unmatched_sets(const std::vector<UnmatchedPattern>& patterns);

}  // namespace cleave::cli
