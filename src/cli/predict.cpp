// cleave predict: violations in other interleavings of a recorded run, stage by stage.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <tuple>

#include "analysis/predict/findings.h"
#include "analysis/predict/predict.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "base/temporary.h"
#include "cli/clock.h"
#include "cli/findings_output.h"
#include "cli/predict_undecided.h"
#include "cli/symbolic_module.h"
#include "cli/units_and_sets.h"
#include "confirm/confirm.h"
#include "confirm/observed.h"
#include "exec/tables.h"
#include "judge/judge.h"
#include "program/program.h"
#include "trace/core/load.h"
#include "trace/recorded/reader.h"
#include "units/unit_hints.h"

namespace cleave::cli {
namespace {

struct PredictVerb {
  CommonOptions common;
  std::string trace;
  std::vector<std::string> stages;
  bool all = false, no_replay = false, no_final = false, trust = false;
  std::vector<std::string> words;  // the command line as typed
  std::string model = "ctp";
  double solver_seconds = 60;
  double budget = 60;
};

constexpr std::array<std::string_view, 6> kStages = {"patterns", "order", "locks",
                                                     "filter",   "exact", "symbolic"};

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

// The program of the trace, if it is the one that was recorded and may be run for this trace.
Result<exec::CheckedProgram> program_of(const confirm::ProgramLine& line, const PredictVerb& verb,
                                        bool ends_early) {
  exec::NamedProgram named;
  named.named_by = verb.trace;
  named.path = line.words.front();
  named.directory = line.directory;
  named.build_id = line.build_id;
  named.ends_early = ends_early;
  Result<exec::ProgramTables> recorded = exec::ProgramTables::read(verb.trace);
  if (!recorded) return recorded.error();
  for (const exec::ModuleTables& module : recorded.value().modules())
    named.modules.push_back(module.identity);
  Result<exec::CheckedProgram> checked = exec::check_program(named, verb.trust);
  if (checked) return checked;
  return Error{checked.error().place,
               checked.error().message + "; to judge the trace alone, say --no-replay"};
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
std::string prove_findings(const PredictVerb& verb, const prediction::TraceIndex& facts,
                           const prediction::Prediction& prediction, confirm::ProveOptions options,
                           SetMap& sets, Findings& findings, std::vector<Verdict>& verdicts) {
  std::vector<const prediction::Candidate*> candidates = worth_running(prediction);
  std::vector<Finding> before;
  for (const prediction::Candidate* candidate : candidates)
    before.push_back(to_finding(facts, *candidate, sets));
  confirm::ProveReport report = confirm::prove(facts, candidates, before, options);
  std::vector<std::optional<confirm::Proof>> observed =
      confirm::judge_observed(facts, candidates, before, options);

  findings.findings.clear();
  uint64_t witnessed = 0, confirmed = 0, as_predicted = 0, diverged = 0, not_run = 0;
  for (size_t c = 0; c < candidates.size(); ++c) {
    const bool seen = observed[c] && observed[c]->verdict > report.proofs[c].verdict;
    const confirm::Proof& proof = seen ? *observed[c] : report.proofs[c];
    Finding finding = before[c];
    Verdict verdict = proof.verdict;
    if (verdict == Verdict::Witnessed && before[c].verdict == Verdict::Infeasible &&
        candidates[c]->only_equal_values) {
      verdict = Verdict::Infeasible;
    }
    if (verdict == Verdict::Witnessed || verdict == Verdict::Confirmed) finding = proof.finding;
    if (verdict == Verdict::Infeasible) finding.verdict = Verdict::Infeasible;
    if (proof.verdict == Verdict::Infeasible || (verdict == Verdict::Infeasible && proof.verdict > verdict))
      finding.stages["replay"] = "atomic";
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
    not_run += !proof.tried && !candidates[c]->refuted();
    verdicts[static_cast<size_t>(candidates[c] - prediction.candidates.data())] = finding.verdict;
    if (verb.all || finding.verdict != Verdict::Infeasible) findings.findings.push_back(std::move(finding));
  }
  if (verb.all) {
    for (const prediction::Candidate& candidate : prediction.candidates) {
      if (std::find(candidates.begin(), candidates.end(), &candidate) == candidates.end())
        findings.findings.push_back(to_finding(facts, candidate, sets));
    }
  }
  for (Finding& failure : report.failures) findings.findings.push_back(std::move(failure));
  StageReport stage;
  stage.name = "replay";
  stage.triples = stage.sites = witnessed + confirmed;
  stage.seconds = report.seconds;
  stage.counts = {{"runs", report.runs},
                  {"confirmed", confirmed},
                  {"as predicted", as_predicted},
                  {"diverged", diverged},
                  {"failed", report.failed}};
  findings.stages.push_back(std::move(stage));
  if (!report.problem.empty()) {
    findings.facts["replay"] = "not possible: " + report.problem;
  } else if (report.not_tried != 0) {
    findings.facts["replay"] =
        fmt::format("the budget of {} s ran out; {} candidates were not run (--budget)", options.budget,
                    report.not_tried);
    if (not_run != 0 && !interrupted()) {
      findings.unfinished.push_back(fmt::format(
          "not run: {} candidate{} (the budget of {} s ran out); to go on: {}", not_run,
          not_run == 1 ? "" : "s", options.budget,
          command_with(verb.words, "--budget", fmt::format("{}", std::max(60.0, 10 * verb.budget)))));
    }
  }
  for (const std::string& sentence : report.not_written) findings.unfinished.push_back(sentence);
  return report.problem;
}

// What the given trace itself contains, judged without running anything.
void judge_findings(const prediction::TraceIndex& facts, const prediction::Prediction& prediction,
                    const confirm::ProveOptions& options, bool all, Findings& findings,
                    std::vector<Verdict>& verdicts) {
  std::vector<const prediction::Candidate*> candidates;  // those that findings has, in its order
  for (const prediction::Candidate& candidate : prediction.candidates) {
    if (all || candidate.verdict() != Verdict::Infeasible) candidates.push_back(&candidate);
  }
  std::vector<std::optional<confirm::Proof>> observed =
      confirm::judge_observed(facts, candidates, findings.findings, options);
  for (size_t c = 0; c < candidates.size(); ++c) {
    if (!observed[c]) continue;
    findings.findings[c] = observed[c]->finding;
    verdicts[static_cast<size_t>(candidates[c] - prediction.candidates.data())] =
        observed[c]->finding.verdict;
  }
}

// Of a recorded trace the program has the data; a text trace may have it.
bool has_data(const RecordedTrace& recorded) {
  bool data = !recorded.origins.empty();
  for (size_t e = 0; e < recorded.trace.size() && !data; ++e)
    data = recorded.trace.symbolic(EventIndex{e}) != nullptr;
  return data;
}

// The solver's stage. Why it was left out, or did not come to its end; that is among the remarks then.
std::string decide(const PredictVerb& verb, const RecordedTrace& trace, const Status& program,
                   prediction::Prediction& prediction, Progress& progress) {
  feasibility::SymbolicStageOptions stage;
  stage.every_triple = verb.all;
  stage.model = verb.model;
  stage.seconds = verb.solver_seconds;
  stage.progress = &progress;
  stage.equal_values = !verb.no_replay && verb.stages.empty();
  const size_t stages = prediction.stages.size();
  Status decided = program ? decide_apart(trace, stage, &prediction) : program;
  if (decided) return "";
  const bool begun = prediction.stages.size() > stages;
  std::string sentence =
      fmt::format("the symbolic stage {}: {}", begun ? "did not come to its end" : "was left out",
                  decided.error().sentence());
  prediction.remarks.push_back(sentence);
  return sentence;
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

// What was left undone goes to the findings. Of what an interrupt left undecided nobody knows whether the
// stages would have kept it, so it is counted and not shown.
void add_unfinished(const PredictVerb& verb, const Trace& trace, const prediction::Prediction& prediction,
                    const std::vector<Verdict>& verdicts, const UndecidedOptions& options,
                    Findings& findings) {
  if (trace.ends_early())
    findings.unfinished.insert(findings.unfinished.begin(), ends_early(verb.trace, trace.size()));
  if (std::string sentence = undecided_sentence(prediction, verdicts, options, verb.words); !sentence.empty())
    findings.unfinished.push_back(sentence);
  if (!interrupted()) return;
  std::erase_if(findings.findings,
                [](const Finding& finding) { return finding.verdict == Verdict::Candidate; });
  findings.unfinished.push_back("interrupted: what was found until then is shown");
}

int run_predict(const PredictVerb& verb) {
  InterruptScope interrupts;
  Result<prediction::PredictOptions> options = stages_from(verb.stages);
  if (!options) return usage_error(options.error());
  Result<UnitsAndSets> given = units_and_sets(verb.common);
  if (!given) return usage_error(given.error());
  const auto& [unit_options, set_options] = given.value();
  ProgressLine line(verb.common.quiet ? -1 : STDERR_FILENO);
  line.progress().begin("reading the trace");
  Result<RecordedTrace> loaded = load_with_records(verb.trace);
  if (!loaded) return line.clear(), interrupted() ? unfinished(loaded.error()) : usage_error(loaded.error());
  if (interrupted()) return line.clear(), unfinished(Error{verb.trace, "interrupted while it was read"});
  const Trace& trace = loaded.value().trace;
  Result<confirm::ProgramLine> program = confirm::program_of_trace(verb.trace);
  Result<exec::CheckedProgram> checked = program ? program_of(program.value(), verb, trace.ends_early())
                                                 : Result<exec::CheckedProgram>(exec::CheckedProgram{});
  const Status fits = checked ? Status(Done{}) : Status(checked.error());
  const bool replays = !verb.no_replay && verb.stages.empty() && program;
  if (replays && !fits) return line.clear(), usage_error(fits.error());

  line.progress().begin("looking for candidates");
  SetMap sets(set_options, trace);
  Result<units::UnitSources> sources = unit_sources(unit_options, loaded.value());
  if (!sources) return line.clear(), usage_error(sources.error());
  UnitMap units = units::find_units(loaded.value(), sources.value(), sets);
  prediction::TraceIndex facts(trace, units);
  prediction::Prediction prediction = predict(facts, options.value());
  UndecidedOptions asked{.solver_seconds = verb.solver_seconds};
  asked.symbolic = verb.stages.empty() ||
                   std::find(verb.stages.begin(), verb.stages.end(), "symbolic") != verb.stages.end();
  if (asked.symbolic) asked.stage_problem = decide(verb, loaded.value(), fits, prediction, line.progress());
  asked.symbolic = asked.symbolic && has_data(loaded.value());
  std::vector<Verdict> verdicts;
  for (const prediction::Candidate& candidate : prediction.candidates)
    verdicts.push_back(candidate.verdict());
  assign_ids(facts, prediction, sets);
  Findings findings = to_findings(facts, prediction, sets, verb.all);
  findings.trace = verb.trace;
  std::vector<std::string> remarks(trace.remarks().begin(), trace.remarks().end());
  if (unit_options.causal && !sources.value().options.causal) remarks.push_back(kNoRecords);
  for (std::string& sentence : unmatched_functions(unit_options, trace))
    remarks.push_back(std::move(sentence));
  for (std::string& sentence : unmatched_sets(unmatched_patterns(unit_options, sets)))
    remarks.push_back(std::move(sentence));
  if (!remarks.empty()) {
    findings.facts["about the trace"] = fmt::format("{}", fmt::join(remarks, "; "));
  }
  const std::vector<std::string> unmatched = unmatched_units(unit_options, trace);
  if (!unmatched.empty()) return line.clear(), unmatched_units_error(unmatched);
  findings.facts["definition"] =
      verb.no_final
          ? "atomic: some serial order gives every read its value (--no-final)"
          : "atomic: some serial order gives every read its value and every location its last value";
  std::string problem;
  confirm::ProveOptions proving;
  proving.units = sources.value();
  proving.sets = set_options;
  proving.final_writes = !verb.no_final;
  proving.order_is_real =
      program ? confirm::recorded_under_control(verb.trace) : static_cast<bool>(judge::consistent(trace));
  if (!replays && verb.stages.empty())
    judge_findings(facts, prediction, proving, verb.all, findings, verdicts);
  if (replays) {
    proving.program = std::move(program).value();
    proving.program.checked = checked.value();
    line.make_way();
    if (!verb.common.quiet)
      tell_what_runs(checked.value(), proving.program.words, proving.program.environment);
    proving.recorded = verb.trace;
    proving.records = &loaded.value();
    proving.jobs =
        verb.common.jobs != 0 ? verb.common.jobs : std::max(1u, std::thread::hardware_concurrency());
    proving.budget = verb.budget;
    proving.now = seconds_now;
    proving.progress = &line.progress();
    problem = prove_findings(verb, facts, prediction, proving, sets, findings, verdicts);
    if (!problem.empty()) findings.unfinished.push_back("the candidates could not be run: " + problem);
  }
  add_unfinished(verb, trace, prediction, verdicts, asked, findings);
  if (findings.findings.empty()) {
    if (std::string hint = hint_text(unit_hints(trace, units), trace.program()); !hint.empty())
      findings.facts["hint"] = hint;
  }
  line.clear();
  return write_results(std::move(findings), verb.common, verb.all);
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
  command->add_flag("--trust", verb->trust,
                    "run the program of the trace although other users could have changed it or the trace");
  command->add_flag("--no-final", verb->no_final,
                    "atomic by reads alone: the last value of a location does not count");
  add_common_options(*command, verb->common);
  command->footer("Example: cleave predict bank.cleave --json findings.json");
  command->callback([verb, &context] {
    context.run = [verb, &context] {
      verb->words = context.words;
      return run_predict(*verb);
    };
  });
}

}  // namespace cleave::cli
