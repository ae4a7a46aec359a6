#include "cli/units_and_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "model/glob.h"

namespace cleave::cli {

Result<UnitsAndSets> units_and_sets(const CommonOptions& options) {
  UnitsAndSets result;
  Result<UnitOptions> units = parse_unit_sources(options.units);
  if (!units) return units.error();
  result.units = std::move(units).value();
  std::string path = options.config;
  if (path.empty() && std::filesystem::exists("cleave.toml")) path = "cleave.toml";
  if (path.empty()) return result;
  Result<Config> config = read_config(path);
  if (!config) return config.error();
  result.units.atomic = config.value().atomic;
  result.units.not_atomic = config.value().not_atomic;
  result.sets.declared = config.value().sets;
  return result;
}

std::vector<std::string> unmatched_functions(const UnitOptions& units, const Trace& tables) {
  std::vector<std::string> sentences;
  auto look = [&](const std::vector<std::string>& patterns, const char* where) {
    for (const std::string& pattern : patterns) {
      auto names = tables.unit_names();
      if (std::any_of(names.begin(), names.end(), [&](const UnitNameInfo& info) { return matches_glob(pattern, info.name); })) continue;
      sentences.push_back(fmt::format("no function that ran and touches shared memory is called '{}' ({})", pattern, where));
    }
  };
  look(units.atomic, "atomic in cleave.toml");
  look(units.not_atomic, "not_atomic in cleave.toml");
  look(units.functions, "--units functions:");
  return sentences;
}

}  // namespace cleave::cli
