// cleave predict: violations in other interleavings of a recorded run, stage by stage.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "analysis/predict/findings.h"
#include "analysis/predict/predict.h"
#include "cli/findings_output.h"
#include "cli/symbolic_stage.h"
#include "model/config.h"
#include "trace/load.h"

namespace cleave::cli {
namespace {

struct PredictVerb {
  CommonOptions common;
  std::string trace;
  std::vector<std::string> stages;
  bool all = false, no_replay = false, no_final = false;
  std::string model = "ctp";
  double solver_seconds = 60;
};

constexpr std::array<std::string_view, 6> kStages = {"patterns", "order", "locks", "filter", "exact", "symbolic"};

Result<prediction::PredictOptions> stages_from(const std::vector<std::string>& words) {
  prediction::PredictOptions options;
  options.now = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  if (words.empty()) return options;
  for (const std::string& word : words) {
    if (std::find(kStages.begin(), kStages.end(), word) == kStages.end()) {
      return Error{"--stages", fmt::format("there is no stage `{}`; choose from {}", word, fmt::join(kStages, ", "))};
    }
  }
  auto asked = [&words](std::string_view stage) { return std::find(words.begin(), words.end(), stage) != words.end(); };
  options.order = asked("order");
  options.locks = asked("locks");
  options.filter = asked("filter");
  options.exact = asked("exact");
  return options;
}

Result<UnitOptions> units_from(const CommonOptions& common, SetOptions* sets) {
  Result<UnitOptions> units = parse_unit_sources(common.units);
  if (!units || common.config.empty()) return units;
  Result<Config> config = read_config(common.config);
  if (!config) return config.error();
  UnitOptions result = std::move(units).value();
  result.atomic = config.value().atomic;
  result.not_atomic = config.value().not_atomic;
  sets->declared = config.value().sets;
  return result;
}

int run_predict(const PredictVerb& verb) {
  Result<prediction::PredictOptions> options = stages_from(verb.stages);
  if (!options) return usage_error(options.error());
  SetOptions set_options;
  Result<UnitOptions> unit_options = units_from(verb.common, &set_options);
  if (!unit_options) return usage_error(unit_options.error());
  Result<Trace> trace = load_trace(verb.trace);
  if (!trace) return usage_error(trace.error());

  SetMap sets(set_options, trace.value());
  UnitMap units = map_units(trace.value(), unit_options.value(), sets);
  prediction::Facts facts(trace.value(), units);
  prediction::Prediction prediction = predict(facts, options.value());
  bool symbolic = verb.stages.empty() || std::find(verb.stages.begin(), verb.stages.end(), "symbolic") != verb.stages.end();
  if (symbolic) {
    SymbolicStageOptions stage;
    stage.every_triple = verb.all;
    stage.keep_reads = verb.model == "cam";
    stage.seconds = verb.solver_seconds;
    Status decided = decide_symbolically(verb.trace, trace.value(), stage, &prediction);
    if (!decided) prediction.remarks.push_back("the symbolic stage was left out: " + decided.error().sentence());
  }
  Findings findings = to_findings(facts, prediction, sets, verb.all);
  findings.trace = verb.trace;
  findings.facts["definition"] =
      verb.no_final ? "atomic: some serial order gives every read its value (--no-final)"
                    : "atomic: some serial order gives every read its value and every location its last value";
  return put_out(std::move(findings), verb.common, verb.all);
}

}  // namespace

void add_predict_verb(CLI::App& app, Context& context) {
  auto verb = std::make_shared<PredictVerb>();
  CLI::App* command = app.add_subcommand("predict", "violations in other interleavings of a recorded run");
  command->add_option("TRACE", verb->trace, "a recorded trace, or a text trace")->required();
  command->add_option("--stages", verb->stages, "stages to run: patterns, order, locks, filter, exact, symbolic")
      ->delimiter(',');
  command->add_flag("--all", verb->all, "show what the stages ruled out too");
  command->add_option("--model", verb->model, "of the symbolic stage: ctp, or cam (every read keeps its value)")
      ->check(CLI::IsMember({"ctp", "cam"}))
      ->capture_default_str();
  command->add_option("--solver-seconds", verb->solver_seconds, "for the symbolic stage, all candidates together")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command->add_flag("--no-replay", verb->no_replay, "do not run the program to prove a candidate");
  command->add_flag("--no-final", verb->no_final, "atomic by reads alone: the last value of a location does not count");
  add_common_options(*command, verb->common);
  command->footer("Example: cleave predict bank.cleave --json findings.json");
  command->callback([verb, &context] { context.run = [verb] { return run_predict(*verb); }; });
}

}  // namespace cleave::cli
