#include "cli/units_and_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/glob.h"
#include "cli/flow_module.h"
#include "trace/core/load.h"

namespace cleave::cli {

Result<UnitsAndSets> units_and_sets(const CommonOptions& options) {
  UnitsAndSets result;
  Result<UnitOptions> units = parse_unit_sources(options.units);
  if (!units) return units.error();
  result.units = std::move(units).value();
  for (const std::string& id : options.without_rules) {
    if (units::rule_of_id(id) == units::kRules)
      return Error{"--without-rule", fmt::format("there is no rule '{}'; docs/units.md lists them", id)};
    if (!result.units.causal) return Error{"--without-rule", "rules make causal units: add --units causal"};
  }
  result.units.without = options.without_rules;
  std::string path = options.config;
  if (path.empty() && std::filesystem::exists("cleave.toml")) path = "cleave.toml";
  if (path.empty()) return result;
  Result<Config> config = read_config(path);
  if (!config) return config.error();
  result.units.atomic = config.value().atomic;
  result.units.not_atomic = config.value().not_atomic;
  result.units.unitfor = config.value().unitfor;
  result.sets.declared = config.value().sets;
  result.sets.owned = config.value().owned;
  return result;
}

Result<RecordedTrace> load_with_records(const std::string& path) {
  if (form_of_file(path) == TraceForm::Binary) return load_recorded_trace(path);
  Result<Trace> text = load_trace(path);
  if (!text) return text.error();
  RecordedTrace recorded;
  recorded.trace = std::move(text).value();
  return recorded;
}

Result<units::UnitSources> unit_sources(const UnitOptions& options, const RecordedTrace& recorded) {
  units::UnitSources sources;
  sources.options = options;
  for (const std::string& id : options.without) sources.switches.off[units::rule_of_id(id)] = true;
  if (!options.causal) return sources;
  if (!recorded.file || recorded.origins.empty()) {
    sources.options.causal = false;
    sources.options.annotated = sources.options.locks = true;
    return sources;
  }
  Result<std::shared_ptr<const dependence::ProgramFlow>> flow = flow_of_recorded(recorded);
  if (!flow) return flow.error();
  sources.flow = std::move(flow).value();
  return sources;
}

namespace {

bool any_function_fits(const std::string& glob, const Trace& tables) {
  auto names = tables.unit_names();
  return std::any_of(names.begin(), names.end(),
                     [&](const UnitNameInfo& info) { return matches_glob(glob, info.name); });
}

}  // namespace

std::vector<std::string> unmatched_units(const UnitOptions& units, const Trace& tables) {
  std::vector<std::string> globs;
  for (const std::string& glob : units.functions) {
    if (!any_function_fits(glob, tables)) globs.push_back(glob);
  }
  return globs;
}

int unmatched_units_error(const std::vector<std::string>& globs) {
  std::string list;
  for (const std::string& glob : globs) list += (list.empty() ? "functions:" : ", functions:") + glob;
  return usage_error(
      Error{"--units", fmt::format("no function that ran and touches shared memory matches {}", list)});
}

std::vector<std::string> unmatched_functions(const UnitOptions& units, const Trace& tables) {
  std::vector<std::string> sentences;
  auto look_at = [&](const std::string& pattern, const char* where) {
    if (any_function_fits(pattern, tables)) return;
    sentences.push_back(
        fmt::format("no function that ran and touches shared memory is called '{}' ({})", pattern, where));
  };
  auto look = [&](const std::vector<std::string>& patterns, const char* where) {
    for (const std::string& pattern : patterns) look_at(pattern, where);
  };
  look(units.atomic, "atomic in cleave.toml");
  look(units.not_atomic, "not_atomic in cleave.toml");
  for (const UnitFor& unit : units.unitfor) look_at(unit.function, "unitfor in cleave.toml");
  return sentences;
}

std::vector<std::string> unmatched_sets(const std::vector<UnmatchedPattern>& patterns) {
  std::vector<std::string> sentences;
  for (const UnmatchedPattern& unmatched : patterns) {
    switch (unmatched.where) {
      case UnmatchedPattern::Where::Sets:
        sentences.push_back(
            fmt::format("no variable that was accessed is called '{}' (\"{}\" in cleave.toml)",
                        unmatched.pattern, unmatched.set));
        break;
      case UnmatchedPattern::Where::Owned:
        sentences.push_back(fmt::format("no field that was accessed is called '{}' (owned in cleave.toml)",
                                        unmatched.pattern));
        break;
      case UnmatchedPattern::Where::UnitFor:
        sentences.push_back(fmt::format(
            "nothing that was accessed is in a set called '{}' (unitfor in cleave.toml)", unmatched.pattern));
        break;
    }
  }
  return sentences;
}

}  // namespace cleave::cli
