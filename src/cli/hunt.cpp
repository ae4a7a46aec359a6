// cleave hunt: directed search for violations that no run has shown yet.
#include "hunt/hunt.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include "base/interrupt.h"
#include "base/progress.h"
#include "cli/clock.h"
#include "cli/explain.h"
#include "cli/findings_output.h"
#include "cli/symbolic_module.h"
#include "cli/units_and_sets.h"
#include "report/json.h"

namespace cleave::cli {
namespace {

constexpr size_t kNotReachedShown = 8;

struct HuntVerb {
  CommonOptions common;
  std::string candidates, state, budget = "5m";
  uint64_t seed = 1, executions = 0;
  unsigned time_limit = 20;
  double solver_seconds = 20;
  bool scratch = false, stop = false, no_explain = false, seed_given = false;
};

// What a state directory has of an earlier hunt of the same program.
struct Resumed {
  hunt::HuntState state;
  std::vector<Finding> findings;
};

Result<Resumed> resume(const HuntVerb& verb, const ProgramLine& program) {
  Resumed resumed;
  resumed.state.seed = verb.seed;
  if (verb.state.empty()) return resumed;
  std::error_code failed;
  std::filesystem::create_directories(verb.state, failed);
  if (failed) return Error{verb.state, "cannot be made: " + failed.message()};
  const std::string path = verb.state + "/hunt.json";
  if (!std::filesystem::exists(path)) return resumed;
  Result<std::string> text = read_text_file(path);
  if (!text) return text.error();
  Result<hunt::HuntState> state = hunt::state_from_json(text.value(), path);
  if (!state) return state.error();
  if (state.value().program != program)
    return Error{path, fmt::format("is the state of a hunt of `{}`; take another directory",
                                   fmt::join(state.value().program, " "))};
  if (verb.seed_given && state.value().seed != verb.seed)
    return Error{path, fmt::format("is the state of a hunt with --seed {}", state.value().seed)};
  resumed.state = std::move(state).value();
  const std::string known = verb.state + "/findings.json";
  if (!std::filesystem::exists(known)) return resumed;
  Result<Findings> findings = load_findings(known);
  if (!findings) return findings.error();
  resumed.findings = std::move(findings.value().findings);
  return resumed;
}

// With what an earlier hunt found; a finding that both have keeps the stronger verdict.
void merge(std::vector<Finding>& findings, std::vector<Finding> earlier) {
  for (Finding& known : earlier) {
    auto same = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
      return finding.kind == FindingKind::Failure || known.kind == FindingKind::Failure
                 ? finding.id == known.id
                 : same_finding(finding, known);
    });
    if (same == findings.end())
      findings.push_back(std::move(known));
    else if (same->verdict < known.verdict)
      *same = std::move(known);
  }
}

Status save(const HuntVerb& verb, const hunt::HuntState& state, const Findings& findings) {
  if (verb.state.empty()) return Done{};
  if (Status written =
          write_text_file(verb.state + "/findings.json", report::to_json(findings, CLEAVE_VERSION));
      !written)
    return written;
  return write_text_file(verb.state + "/hunt.json", to_json(state));
}

Result<std::vector<Finding>> wanted_findings(const std::string& path) {
  std::vector<Finding> wanted;
  if (path.empty()) return wanted;
  Result<Findings> findings = load_findings(path);
  if (!findings) return findings.error();
  for (Finding& finding : findings.value().findings)
    if (finding.kind != FindingKind::Failure) wanted.push_back(std::move(finding));
  if (wanted.empty()) return Error{path, "has no candidates"};
  return wanted;
}

Findings findings_of(const HuntVerb& verb, const ProgramLine& program, const hunt::HuntReport& report,
                     double seconds) {
  Findings findings;
  findings.command = "hunt";
  findings.program = fmt::format("{}", fmt::join(program, " "));
  findings.findings = report.findings;
  StageReport stage;
  stage.name = "hunt";
  stage.triples = stage.sites = report.candidates;
  stage.seconds = seconds;
  stage.counts = {{"executions", report.executions}, {"tried", report.tried},
                  {"confirmed", report.confirmed},   {"failed", report.failed},
                  {"stopped", report.time_limits},   {"reads-from pairs", report.pairs}};
  findings.stages.push_back(std::move(stage));
  if (!report.first_failure.empty()) findings.facts["first failure"] = report.first_failure;
  if (!report.first_proof.empty()) findings.facts["first proof"] = report.first_proof;
  std::vector<std::string> shown = report.not_reached;
  if (shown.size() > kNotReachedShown && !verb.common.all_cycles) {
    shown.resize(kNotReachedShown);
    shown.push_back(fmt::format("and {} more", report.not_reached.size() - kNotReachedShown));
  }
  if (!shown.empty()) findings.facts["not reached"] = fmt::format("{}", fmt::join(shown, "; "));
  findings.unfinished = report.problems;
  if (interrupted())
    findings.unfinished.push_back("interrupted: the report shows what was found until then");
  else if (report.wanted_missed != 0)
    findings.unfinished.push_back(
        fmt::format("{} of the given candidates not confirmed", report.wanted_missed));
  else if (report.tried < report.candidates && !verb.stop)
    findings.unfinished.push_back(fmt::format("{} of {} candidates not tried; give the hunt a larger {}",
                                              report.candidates - report.tried, report.candidates,
                                              verb.executions != 0 ? "--executions" : "--budget"));
  return findings;
}

hunt::HuntOptions hunt_options(const HuntVerb& verb, const UnitsAndSets& given, const ProgramLine& program) {
  hunt::HuntOptions options;
  options.program = program;
  std::error_code unknown;
  options.directory = std::filesystem::current_path(unknown).string();
  options.witnesses = verb.state;
  options.executions = verb.executions;
  options.run_limit = verb.time_limit;
  options.scratch = verb.scratch;
  options.stop = verb.stop;
  options.jobs = std::max(1u, verb.common.jobs);
  options.look.units = [units = given.units](const RecordedTrace& recorded) {
    static std::mutex one_at_a_time;  // finding the dependencies loads a library
    std::lock_guard guard(one_at_a_time);
    return unit_sources(units, recorded);
  };
  options.look.sets = given.sets;
  options.look.now = seconds_now;
  if (verb.solver_seconds > 0) {
    options.decide = [seconds = verb.solver_seconds](const RecordedTrace& recorded,
                                                     prediction::Prediction& prediction) {
      feasibility::SymbolicStageOptions stage;
      stage.seconds = seconds;
      stage.equal_values = true;
      // Without an answer the candidates are tried all the same.
      static_cast<void>(decide_apart(recorded, stage, &prediction));
    };
  }
  return options;
}

// The first failure of each kind, once it was found.
void explain_failures(const HuntVerb& verb, const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    if (finding.kind != FindingKind::Failure || finding.witness.empty() || interrupted()) continue;
    ExplainOptions options;
    options.witness = finding.witness;
    options.output = std::filesystem::path(finding.witness).replace_extension(".explained.json").string();
    options.runs = 80;
    options.time_limit = verb.time_limit;
    options.quiet = true;
    fmt::print("\n{}:\n", finding.id);
    std::fflush(stdout);
    explain(options, {});
  }
}

int run_hunt(const HuntVerb& verb, const ProgramLine& program) {
  InterruptScope interrupts;
  if (program.empty()) return usage_error(Error{"", "no program was given: cleave hunt -- PROG ARGS"});
  if (Status built = exec::check_instrumented(program[0]); !built) return usage_error(built.error());
  Result<double> budget = duration(verb.budget);
  if (!budget) return usage_error(budget.error());
  Result<UnitsAndSets> given = units_and_sets(verb.common);
  if (!given) return usage_error(given.error());
  Result<std::vector<Finding>> wanted = wanted_findings(verb.candidates);
  if (!wanted) return usage_error(wanted.error());
  Result<Resumed> resumed = resume(verb, program);
  if (!resumed) return usage_error(resumed.error());
  hunt::HuntOptions options = hunt_options(verb, given.value(), program);
  // A number of executions alone is no matter of time: the same seed gives the same hunt.
  options.budget = verb.executions != 0 && verb.budget == "5m" ? 1e9 : budget.value();
  options.wanted = std::move(wanted).value();
  options.state = std::move(resumed.value().state);
  ProgressLine line(verb.common.quiet ? -1 : STDERR_FILENO);
  line.progress().begin("executions", verb.executions);
  options.progress = &line.progress();
  const double start = seconds_now();
  Result<hunt::HuntReport> report = hunt::hunt(options);
  line.clear();
  if (!report) return interrupted() ? unfinished(report.error()) : usage_error(report.error());
  merge(report.value().findings, std::move(resumed.value().findings));
  Findings findings = findings_of(verb, program, report.value(), seconds_now() - start);
  if (Status saved = save(verb, report.value().state, findings); !saved)
    findings.unfinished.push_back(saved.error().sentence());
  const std::vector<Finding> all = findings.findings;
  CommonOptions shown = verb.common;
  shown.program_file = program[0];
  const int status = write_results(std::move(findings), shown);
  if (!verb.no_explain && !verb.common.quiet && verb.common.json != "-") explain_failures(verb, all);
  return status;
}

}  // namespace

void add_hunt_verb(CLI::App& app, Context& context) {
  auto verb = std::make_shared<HuntVerb>();
  CLI::App* command =
      app.add_subcommand("hunt", "search for violations and failures that no run has shown yet");
  command->add_option("--candidates", verb->candidates,
                      "findings of static, check or predict (their --json) to confirm first");
  command->add_option("--budget", verb->budget, "time for the search: 90s, 10m, 2h")->capture_default_str();
  command
      ->add_option("--executions", verb->executions,
                   "number of executions instead of a time; the same seed then gives the same hunt")
      ->check(not_negative());
  command->add_option("--seed", verb->seed, "of the search")->check(not_negative())->capture_default_str();
  command->add_option("--time-limit", verb->time_limit, "seconds for one execution")
      ->check(CLI::Range(1u, 100000u))
      ->capture_default_str();
  command
      ->add_option("--solver-seconds", verb->solver_seconds,
                   "for deciding the first run's candidates with the program's data; 0: not at all")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command->add_option("--state", verb->state,
                      "directory for state, findings and witnesses; a hunt goes on from what is there");
  command->add_flag("--scratch", verb->scratch, "run each execution in a copy of the current directory");
  command->add_flag("--stop", verb->stop, "end at the first failure or proved violation");
  command->add_flag("--no-explain", verb->no_explain, "do not look for the switches that a failure needs");
  add_common_options(*command, verb->common);
  command->footer(
      "Each execution is judged, gives new candidates, and decides what is tried next. Witnesses are written "
      "to the\n"
      "current directory, or to the one of --state.\n"
      "Example: cleave-c++ -g -O1 bank.cpp -o bank && cleave hunt --executions 40 -- ./bank");
  command->callback([verb, command, &context] {
    verb->seed_given = command->count("--seed") > 0;
    context.run = [verb, &context] { return run_hunt(*verb, context.program); };
  });
}

}  // namespace cleave::cli
