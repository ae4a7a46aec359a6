#include "cli/units_and_sets.h"

#include <filesystem>

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

}  // namespace cleave::cli
