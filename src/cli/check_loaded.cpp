#include "cli/check_loaded.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "cli/units_and_sets.h"
#include "report/explain.h"
#include "trace/core/load.h"
#include "trace/recorded/reader.h"
#include "units/find.h"

namespace cleave::cli {

Result<LoadedReport> check_loaded(const std::string& path, conflict::CheckOptions options) {
  Result<RecordedTrace> loaded = load_with_records(path);
  if (!loaded) return loaded.error();
  const Trace& trace = loaded.value().trace;
  LoadedReport result;
  result.remarks.assign(trace.remarks().begin(), trace.remarks().end());
  Result<units::UnitSources> sources = unit_sources(options.units, loaded.value());
  if (!sources) return sources.error();
  if (options.units.causal && !sources.value().options.causal) result.remarks.push_back(kNoRecords);
  options.units = sources.value().options;
  SetMap sets(options.sets, trace);
  const UnitMap units = units::find_units(loaded.value(), sources.value(), sets);
  result.report = conflict::check_units(trace, units, sets, options);
  result.report.complete = !trace.ends_early();
  result.program = trace.program();
  result.unmatched_units = unmatched_units(options.units, trace);
  for (std::string& sentence : unmatched_functions(options.units, trace))
    result.remarks.push_back(std::move(sentence));
  for (std::string& sentence : unmatched_sets(result.report.unmatched))
    result.remarks.push_back(std::move(sentence));
  return result;
}

Result<std::string> explain_units(const std::string& path, const conflict::CheckOptions& options) {
  Result<RecordedTrace> loaded = load_with_records(path);
  if (!loaded) return loaded.error();
  const Trace& trace = loaded.value().trace;
  Result<units::UnitSources> sources = unit_sources(options.units, loaded.value());
  if (!sources) return sources.error();
  SetMap sets(options.sets, trace);
  const UnitMap map = units::find_units(loaded.value(), sources.value(), sets);
  struct Line {
    uint64_t count = 0;
    std::string example;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Line> lines;
  for (const Unit& unit : map.units) {
    if (unit.cause == UINT32_MAX) continue;
    Finding finding;
    finding.unit = unit_label(trace, unit, map.lock_functions);
    finding.cause = cause_of(trace, map, unit);
    const VariableId variable = trace.event(map.causes[unit.cause].first).variable();
    Line& line =
        lines[{finding.unit, std::string(sets.info(sets.set_of(variable)).name), finding.cause.rule}];
    if (line.count++ == 0) line.example = report::cause(finding);
  }
  std::string text;
  for (const auto& [key, line] : lines) {
    const auto& [unit, set, rule] = key;
    text += fmt::format("{} on {}: {}, {} times\n  {}\n  {}\n", unit, set, rule, line.count, line.example,
                        units::rule_info(static_cast<units::RuleId>(units::rule_of_id(rule))).sentence);
  }
  return text.empty() ? "no causal units\n" : text;
}

}  // namespace cleave::cli
