#include "analysis/static/static_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "analysis/static/describe.h"
#include "analysis/static/expand.h"
#include "analysis/static/model.h"
#include "analysis/static/races.h"
#include "analysis/static/stale_values.h"

namespace cleave::static_analysis {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void put_facts(const WholeProgram& whole, const Expansion& expansion, Model& model, Findings& findings) {
  std::vector<std::string> threads;
  for (const Process& process : model.processes.all())
    threads.push_back(process.name + (process.several ? " (several)" : "") +
                      (process.joined ? " (joined)" : ""));
  uint64_t sections = 0, paths = 0;
  for (SectionId id = 0; id < model.views.count(); ++id) {
    if (model.sections[id].claim) continue;
    ++sections;
    paths += model.views.views(id).size();
  }
  findings.facts["functions"] =
      fmt::format("{}; {} calls expanded, {} kept", whole.functions(), expansion.expanded, expansion.kept);
  findings.facts["threads"] = fmt::format("{}", fmt::join(threads, ", "));
  findings.facts["sections"] = fmt::format("{} atomic sections, {} views, {} shared variables", sections,
                                           paths, model.accesses.variables());
  if (!model.points_to.unresolved().empty()) {
    std::set<std::string> places;
    for (const llvm::CallBase* call : model.points_to.unresolved()) {
      const std::vector<Frame> frames = WholeProgram::frames(*call);
      places.insert(fmt::format("{} ({}:{})", frames[0].function,
                                frames[0].file.substr(frames[0].file.rfind('/') + 1), frames[0].line));
    }
    std::vector<std::string> shown(places.begin(), places.end());
    if (shown.size() > 5) shown.resize(5), shown.push_back("…");
    findings.facts["calls not resolved"] =
        fmt::format("{}: {}", model.points_to.unresolved().size(), fmt::join(shown, ", "));
  }
  std::vector<std::string> cut;
  if (expansion.budget_reached) cut.push_back("some calls were not expanded: the program is large");
  if (model.views.merged() != 0)
    cut.push_back(fmt::format("{} sections have too many paths: one view each", model.views.merged()));
  if (model.dependences.cut()) cut.push_back("some dependencies were not followed to their end");
  if (!cut.empty()) findings.facts["cut"] = fmt::format("{}", fmt::join(cut, "; "));
  if (!whole.remarks().empty())
    findings.facts["left out"] = fmt::format("{}", fmt::join(whole.remarks(), "; "));
}

}  // namespace

Result<Findings> analyze(const Program& program, const StaticOptions& options) {
  Clock::time_point start = Clock::now();
  Result<std::unique_ptr<WholeProgram>> loaded = WholeProgram::load(program);
  if (!loaded.ok()) return loaded.error();
  WholeProgram& whole = *loaded.value();
  Findings findings;
  findings.command = "static";
  findings.program = program.path;
  auto stage = [&](const char* name, uint64_t count) {
    StageReport report;
    report.name = name;
    report.sites = count;
    report.seconds = since(start);
    findings.stages.push_back(std::move(report));
    start = Clock::now();
  };
  const Expansion expansion = expand_calls(whole.module(), options.most_instructions);
  stage("expand", expansion.instructions);
  Model model(whole, options);
  stage("points-to, locks, views", model.accesses.all().size());
  const std::vector<HighLevelRace> races = find_races(model);
  stage("high-level races", races.size());
  const std::vector<StaleValue> stale = options.artho ? std::vector<StaleValue>() : find_stale_values(model);
  stage("stale values", stale.size());
  findings.findings = describe(model, races, stale);
  put_facts(whole, expansion, model, findings);
  return findings;
}

}  // namespace cleave::static_analysis
