// cleave predict: violations in other interleavings of a recorded run, stage by stage.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <tuple>

#include "analysis/predict/findings.h"
#include "analysis/predict/predict.h"
#include "base/progress.h"
#include "check/check.h"
#include "cli/findings_output.h"
#include "cli/symbolic_module.h"
#include "cli/units_and_sets.h"
#include "exec/tables.h"
#include "model/unit_hints.h"
#include "program/program.h"
#include "prove/observed.h"
#include "prove/prove.h"
#include "trace/load.h"
#include "trace/reader.h"

namespace cleave::cli {
namespace {

struct PredictVerb {
  CommonOptions common;
  std::string trace;
  std::vector<std::string> stages;
  bool all = false, no_replay = false, no_final = false;
  std::string model = "ctp";
  double solver_seconds = 60;
  double budget = 60;
};

constexpr std::array<std::string_view, 6> kStages = {"patterns", "order", "locks",
                                                     "filter",   "exact", "symbolic"};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Result<prediction::PredictOptions> stages_from(const std::vector<std::string>& words) {
  prediction::PredictOptions options;
  options.now = seconds_now;
  if (words.empty()) return options;
  for (const std::string& word : words) {
    if (std::find(kStages.begin(), kStages.end(), word) == kStages.end()) {
      return Error{"--stages",
                   fmt::format("there is no stage `{}`; choose from {}", word, fmt::join(kStages, ", "))};
    }
  }
  auto asked = [&words](std::string_view stage) {
    return std::find(words.begin(), words.end(), stage) != words.end();
  };
  options.order = asked("order");
  options.locks = asked("locks");
  options.filter = asked("filter");
  options.exact = asked("exact");
  return options;
}

// Whether the program of the trace is there, and is the one that was recorded. What was built without Cleave
// is left to the run to find out: only a library of it may have been built with it.
Status program_fits(const prove::ProgramLine& line, const std::string& trace) {
  std::filesystem::path path = line.words.front();
  if (path.is_relative() && !line.directory.empty()) path = line.directory / path;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return Error{
        path.string(),
        "the program that was recorded is not there; put it back, or judge the trace alone with --no-replay"};
  }
  Result<Program> program = Program::open(path.string());
  Result<exec::ProgramTables> recorded = exec::ProgramTables::read(trace);
  if (!program || !recorded) return Done{};
  const std::vector<exec::ModuleTables>& modules = recorded.value().modules();
  for (const ProgramModule& module : program.value().modules) {
    bool known = std::any_of(modules.begin(), modules.end(), [&](const exec::ModuleTables& other) {
      return other.identity == module.identity;
    });
    if (!known) {
      return Error{path.string(),
                   "was built again since it was recorded; record it again, or judge the trace alone with "
                   "--no-replay"};
    }
  }
  return Done{};
}

// Worth a run: what synchronization does not rule out. What the filter dropped comes after what it kept: that
// is only an opinion. Last comes what the solver refuted: its answer is about the recorded path, and a thread
// may leave that path behind the remote access (it finds the log closed and goes another way, and the unit
// goes on).
std::vector<const prediction::Candidate*> worth_running(const prediction::Prediction& prediction) {
  std::vector<const prediction::Candidate*> result;
  for (const prediction::Candidate& candidate : prediction.candidates) {
    if (candidate.reached == prediction::Reached::Locks) result.push_back(&candidate);
  }
  auto rank = [](const prediction::Candidate* c) {
    return std::tuple(-static_cast<int>(c->verdict()), c->refuted(), c->pattern == Pattern::WWW, c->triple());
  };
  std::sort(result.begin(), result.end(), [&](auto* a, auto* b) { return rank(a) < rank(b); });
  return result;
}

// Runs the program for the candidates and puts what came of it into the findings. Why nothing could be run,
// or empty.
std::string prove_findings(const PredictVerb& verb, const prediction::Facts& facts,
                           const prediction::Prediction& prediction, prove::ProveOptions options,
                           SetMap& sets, Findings& findings) {
  std::filesystem::path scratch = std::filesystem::temp_directory_path() / "cleave-predict-XXXXXX";
  std::string folder = scratch.string();
  if (mkdtemp(folder.data()) == nullptr) {
    return "no folder for the traces of the runs could be made in " + scratch.parent_path().string();
  }
  options.scratch = folder;
  std::vector<const prediction::Candidate*> candidates = worth_running(prediction);
  std::vector<Finding> before;
  for (const prediction::Candidate* candidate : candidates)
    before.push_back(to_finding(facts, *candidate, sets));
  prove::ProveReport report = prove::prove(facts, candidates, before, options);
  std::vector<std::optional<prove::Proof>> observed =
      prove::judge_observed(facts, candidates, before, options);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);

  findings.findings.clear();
  uint64_t witnessed = 0, confirmed = 0, as_predicted = 0, diverged = 0;
  for (size_t c = 0; c < candidates.size(); ++c) {
    const bool seen = observed[c] && observed[c]->verdict > report.proofs[c].verdict;
    const prove::Proof& proof = seen ? *observed[c] : report.proofs[c];
    Finding finding = before[c];
    Verdict verdict = proof.verdict;
    if (verdict == Verdict::Witnessed && before[c].verdict == Verdict::Infeasible &&
        candidates[c]->only_equal_values) {
      verdict = Verdict::Infeasible;
    }
    if (verdict == Verdict::Witnessed || verdict == Verdict::Confirmed) finding = proof.finding;
    if (verdict == Verdict::Infeasible) finding.verdict = Verdict::Infeasible;
    if (!proof.note.empty()) finding.note = proof.note;
    const bool happened = proof.verdict != Verdict::Candidate && proof.verdict != Verdict::Feasible;
    if (candidates[c]->symbolic == "sat" && verb.model == "ctp" && proof.tried) {
      ++(happened ? as_predicted : diverged);
      if (!happened) {
        finding.note = (proof.runs == 0 ? "the model says that this happens, but no run can be led there: "
                                        : "the model says that this happens, the run went another way: ") +
                       (proof.difference.empty() ? finding.note : proof.difference);
      }
    }
    witnessed += verdict == Verdict::Witnessed;
    confirmed += verdict == Verdict::Confirmed;
    if (verb.all || finding.verdict != Verdict::Infeasible) findings.findings.push_back(std::move(finding));
  }
  if (verb.all) {
    for (const prediction::Candidate& candidate : prediction.candidates) {
      if (std::find(candidates.begin(), candidates.end(), &candidate) == candidates.end())
        findings.findings.push_back(to_finding(facts, candidate, sets));
    }
  }
  StageReport stage;
  stage.name = "replay";
  stage.triples = stage.sites = witnessed + confirmed;
  stage.seconds = report.seconds;
  stage.counts = {{"runs", report.runs},
                  {"confirmed", confirmed},
                  {"as predicted", as_predicted},
                  {"diverged", diverged}};
  findings.stages.push_back(std::move(stage));
  if (!report.problem.empty()) {
    findings.facts["replay"] = "not possible: " + report.problem;
  } else if (report.not_tried != 0) {
    findings.facts["replay"] =
        fmt::format("the budget of {} s ran out; {} candidates were not run (--budget)", options.budget,
                    report.not_tried);
  }
  return report.problem;
}

// What the given trace itself contains, judged without running anything.
void judge_findings(const prediction::Facts& facts, const prediction::Prediction& prediction,
                    const prove::ProveOptions& options, bool all, Findings& findings) {
  std::vector<const prediction::Candidate*> candidates;  // those that findings has, in its order
  for (const prediction::Candidate& candidate : prediction.candidates) {
    if (all || candidate.verdict() != Verdict::Infeasible) candidates.push_back(&candidate);
  }
  std::vector<std::optional<prove::Proof>> observed =
      prove::judge_observed(facts, candidates, findings.findings, options);
  for (size_t c = 0; c < candidates.size(); ++c) {
    if (observed[c]) findings.findings[c] = observed[c]->finding;
  }
}

// The solver's stage, or a remark that says why it was left out.
void decide(const PredictVerb& verb, const RecordedTrace& trace, const Status& program,
            prediction::Prediction& prediction, Progress& progress) {
  decide::SymbolicStageOptions stage;
  stage.every_triple = verb.all;
  stage.model = verb.model;
  stage.seconds = verb.solver_seconds;
  stage.progress = &progress;
  stage.equal_values = !verb.no_replay && verb.stages.empty();
  Status decided = program ? decide_in_module(trace, stage, &prediction) : program;
  if (!decided)
    prediction.remarks.push_back("the symbolic stage was left out: " + decided.error().sentence());
}

// For a person who is told that nothing was found: what the units given may have left out.
std::string hint_text(const std::vector<UnitHint>& hints, const std::string& program) {
  if (hints.empty()) return "";
  constexpr size_t kNamed = 3;
  std::string text;
  for (size_t i = 0; i < std::min(hints.size(), kNamed); ++i) {
    text += fmt::format("{}`{}` touches {} in {} units, one after the other", i == 0 ? "" : "; ",
                        hints[i].function, hints[i].variable, hints[i].units);
  }
  if (hints.size() > kNamed) text += fmt::format("; and {} more functions like that", hints.size() - kNamed);
  text += fmt::format(
      ". If such a function must be atomic, put CLEAVE_ATOMIC before it, or say --units 'functions:{}'",
      hints[0].function);
  if (program.empty()) return text;
  return text + fmt::format(
                    ". Other runs may take other paths: cleave check --schedule random --runs 50 -- {}, with "
                    "these --units or without",
                    program);
}

// A trace with what the symbolic stage needs of it; a text trace has no records.
Result<RecordedTrace> load_with_records(const std::string& path) {
  if (form_of_file(path) == TraceForm::Binary) return load_recorded_trace(path);
  Result<Trace> text = load_trace(path);
  if (!text) return text.error();
  RecordedTrace recorded;
  recorded.trace = std::move(text).value();
  return recorded;
}

int run_predict(const PredictVerb& verb) {
  Result<prediction::PredictOptions> options = stages_from(verb.stages);
  if (!options) return usage_error(options.error());
  Result<UnitsAndSets> given = units_and_sets(verb.common);
  if (!given) return usage_error(given.error());
  const auto& [unit_options, set_options] = given.value();
  ProgressLine line(verb.common.quiet ? -1 : STDERR_FILENO);
  line.progress().begin("reading the trace");
  Result<RecordedTrace> loaded = load_with_records(verb.trace);
  if (!loaded) return line.clear(), usage_error(loaded.error());
  const Trace& trace = loaded.value().trace;
  Result<prove::ProgramLine> program = prove::program_of_trace(verb.trace);
  Status fits = program ? program_fits(program.value(), verb.trace) : Done{};
  const bool replays = !verb.no_replay && verb.stages.empty() && program;
  if (replays && !fits) return usage_error(fits.error());

  line.progress().begin("looking for candidates");
  SetMap sets(set_options, trace);
  UnitMap units = map_units(trace, unit_options, sets);
  prediction::Facts facts(trace, units);
  prediction::Prediction prediction = predict(facts, options.value());
  bool symbolic = verb.stages.empty() ||
                  std::find(verb.stages.begin(), verb.stages.end(), "symbolic") != verb.stages.end();
  if (symbolic) decide(verb, loaded.value(), fits, prediction, line.progress());
  Findings findings = to_findings(facts, prediction, sets, verb.all);
  findings.trace = verb.trace;
  std::vector<std::string> remarks(trace.remarks().begin(), trace.remarks().end());
  for (std::string& sentence : unmatched_functions(unit_options, trace))
    remarks.push_back(std::move(sentence));
  for (std::string& sentence : unmatched_sets(unmatched_patterns(unit_options, sets)))
    remarks.push_back(std::move(sentence));
  if (!remarks.empty()) {
    findings.facts["about the trace"] = fmt::format("{}", fmt::join(remarks, "; "));
  }
  findings.facts["definition"] =
      verb.no_final
          ? "atomic: some serial order gives every read its value (--no-final)"
          : "atomic: some serial order gives every read its value and every location its last value";
  std::string problem;
  prove::ProveOptions proving;
  proving.units = unit_options;
  proving.sets = set_options;
  proving.final_writes = !verb.no_final;
  proving.order_is_real =
      program ? prove::recorded_under_control(verb.trace) : static_cast<bool>(check::consistent(trace));
  if (!replays && verb.stages.empty()) judge_findings(facts, prediction, proving, verb.all, findings);
  if (replays) {
    proving.program = std::move(program).value();
    proving.recorded = verb.trace;
    proving.records = &loaded.value();
    proving.jobs =
        verb.common.jobs != 0 ? verb.common.jobs : std::max(1u, std::thread::hardware_concurrency());
    proving.budget = verb.budget;
    proving.now = seconds_now;
    proving.progress = &line.progress();
    problem = prove_findings(verb, facts, prediction, proving, sets, findings);
  }
  if (findings.findings.empty()) {
    if (std::string hint = hint_text(unit_hints(trace, units), trace.program()); !hint.empty())
      findings.facts["hint"] = hint;
  }
  line.clear();
  int status = put_out(std::move(findings), verb.common, verb.all);
  if (problem.empty()) return status;
  fmt::print(stderr, "cleave: the candidates could not be run: {}\n", problem);
  return status == static_cast<int>(Exit::Usage) ? status : static_cast<int>(Exit::Unfinished);
}

}  // namespace

void add_predict_verb(CLI::App& app, Context& context) {
  auto verb = std::make_shared<PredictVerb>();
  CLI::App* command = app.add_subcommand("predict", "violations in other interleavings of a recorded run");
  command->add_option("TRACE", verb->trace, "a recorded trace, or a text trace")->required();
  command
      ->add_option("--stages", verb->stages, "stages to run: patterns, order, locks, filter, exact, symbolic")
      ->delimiter(',');
  command->add_flag("--all", verb->all, "show what the stages ruled out too");
  command
      ->add_option("--model", verb->model,
                   "of the symbolic stage: ctp; cam (data is ignored) and mcm (every read keeps its value) "
                   "for comparison")
      ->check(CLI::IsMember({"ctp", "cam", "mcm"}))
      ->capture_default_str();
  command
      ->add_option("--solver-seconds", verb->solver_seconds,
                   "for the symbolic stage, all candidates together")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command->add_flag("--no-replay", verb->no_replay, "do not run the program to prove a candidate");
  command->add_option("--budget", verb->budget, "seconds for running the program, all candidates together")
      ->capture_default_str()
      ->check(not_negative());
  command->add_flag("--no-final", verb->no_final,
                    "atomic by reads alone: the last value of a location does not count");
  add_common_options(*command, verb->common);
  command->footer("Example: cleave predict bank.cleave --json findings.json");
  command->callback([verb, &context] { context.run = [verb] { return run_predict(*verb); }; });
}

}  // namespace cleave::cli
