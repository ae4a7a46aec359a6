#include "cli/static_confirm.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <set>

#include "base/interrupt.h"
#include "base/progress.h"
#include "cli/clock.h"
#include "cli/units_and_sets.h"
#include "hunt/hunt.h"
#include "hunt/targets.h"

namespace cleave::cli {
namespace {

// The functions that hold both accesses of a finding: the search takes each for a unit.
std::vector<std::string> functions_of(const std::vector<Finding>& findings) {
  std::set<std::string> names;
  for (const Finding& finding : findings)
    if (!finding.unit.empty()) names.insert(finding.unit);
  return {names.begin(), names.end()};
}

// A proof belongs to a finding if it splits the finding's unit and speaks of the same accesses.
bool shows(const Finding& proof, const Finding& finding) {
  if (proof.kind == FindingKind::Failure || proof.verdict < Verdict::Witnessed) return false;
  return (finding.unit.empty() || proof.unit == finding.unit) && hunt::alike(finding, proof);
}

void adopt(Finding& finding, const Finding& proof) {
  if (proof.verdict <= finding.verdict) return;
  finding.verdict = proof.verdict;
  finding.witness = proof.witness;
  const AccessReport* remote = nullptr;
  for (const AccessReport& access : proof.accesses)
    if (access.role == Role::Remote) remote = &access;
  finding.note = "An execution shows it";
  if (remote != nullptr)
    finding.note += fmt::format(": {} of {} came between ({}:{})", remote->op, proof.variable,
                                remote->file.substr(remote->file.rfind('/') + 1), remote->line);
  finding.note += proof.verdict == Verdict::Confirmed ? "; no serial order explains that execution." : ".";
}

hunt::HuntOptions search_options(const ProgramLine& program, const CommonOptions& common,
                                 const StaticConfirmOptions& given, const UnitsAndSets& what) {
  hunt::HuntOptions options;
  options.program = program;
  std::error_code unknown;
  options.directory = std::filesystem::current_path(unknown).string();
  options.executions = given.executions;
  options.budget = given.budget;
  options.run_limit = given.time_limit;
  options.jobs = std::max(1u, common.jobs);
  options.state.seed = given.seed;
  options.look.units = [units = what.units](const RecordedTrace& recorded) {
    static std::mutex one_at_a_time;  // finding the dependencies loads a library
    std::lock_guard guard(one_at_a_time);
    return unit_sources(units, recorded);
  };
  options.look.sets = what.sets;
  options.look.now = seconds_now;
  return options;
}

void count(Findings& findings, const hunt::HuntReport& report, double seconds) {
  uint64_t shown = 0;
  for (const Finding& finding : findings.findings) shown += finding.verdict >= Verdict::Witnessed;
  StageReport stage;
  stage.name = "confirm";
  stage.triples = stage.sites = shown;
  stage.seconds = seconds;
  stage.counts = {{"executions", report.executions}, {"failed", report.failed}};
  findings.stages.push_back(std::move(stage));
  findings.facts["confirmation"] =
      fmt::format("{} of {} shown by {} execution{}", shown, findings.findings.size(), report.executions,
                  report.executions == 1 ? "" : "s");
}

}  // namespace

Status confirm_by_running(const ProgramLine& program, const CommonOptions& common,
                          const StaticConfirmOptions& given, Findings& findings) {
  Result<UnitsAndSets> what = units_and_sets(common);
  if (!what) return what.error();
  for (std::string& name : functions_of(findings.findings))
    what.value().units.functions.push_back(std::move(name));
  hunt::HuntOptions options = search_options(program, common, given, what.value());
  for (const Finding& finding : findings.findings) options.wanted.push_back(finding);
  ProgressLine line(common.quiet ? -1 : STDERR_FILENO);
  line.progress().begin("executions", given.executions);
  options.progress = &line.progress();
  const double start = seconds_now();
  Result<hunt::HuntReport> report = hunt::hunt(options);
  line.clear();
  if (!report) return report.error();
  for (Finding& finding : findings.findings) {
    for (const Finding& proof : report.value().findings)
      if (shows(proof, finding)) adopt(finding, proof);
    if (finding.verdict < Verdict::Witnessed && finding.note.empty())
      finding.note = fmt::format("No execution showed it ({} tried).", report.value().executions);
  }
  count(findings, report.value(), seconds_now() - start);
  for (const Finding& failure : report.value().findings)
    if (failure.kind == FindingKind::Failure) findings.findings.push_back(failure);
  for (const std::string& problem : report.value().problems) findings.unfinished.push_back(problem);
  if (interrupted()) findings.unfinished.push_back("the search for executions was interrupted");
  return Done{};
}

}  // namespace cleave::cli
