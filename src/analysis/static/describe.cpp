#include "analysis/static/describe.h"

#include <fmt/format.h>
#include <llvm/IR/DebugInfoMetadata.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace cleave::static_analysis {

using namespace llvm;

namespace {

Frame own_frame(const Instruction& at) {
  const std::vector<Frame> frames = WholeProgram::frames(at);
  for (const Frame& frame : frames) {
    if (!frame.system) return frame;
  }
  return frames.back();
}

// The innermost function of the program that both are in.
std::string common_function(const Instruction& a, const Instruction& b) {
  if (a.getFunction() != b.getFunction()) return {};
  std::vector<const DILocation*> others;
  for (const DILocation* place = b.getDebugLoc().get(); place != nullptr; place = place->getInlinedAt())
    others.push_back(place->getInlinedAt());
  const std::vector<Frame> frames = WholeProgram::frames(a);
  size_t level = 0;
  bool common = false;
  for (const DILocation* place = a.getDebugLoc().get(); place != nullptr;
       place = place->getInlinedAt(), ++level) {
    common |= std::find(others.begin(), others.end(), place->getInlinedAt()) != others.end();
    if (common && level < frames.size() && !frames[level].system) return frames[level].function;
  }
  return {};
}

class Describer {
 public:
  explicit Describer(const Model& model) : model_(model) {}

  Finding stale(const StaleValue& found) const {
    Finding finding;
    finding.kind = FindingKind::StaleValue;
    finding.variable = model_.accesses.variable(found.variable).name;
    const std::string from = owner(found.from, *found.read), to = owner(found.to, *found.use);
    finding.unit = unit(*found.read, *found.use);
    finding.units = {{from, thread(found.process)}, {to, thread(found.process)}};
    const Access& use = *model_.accesses.at(found.use);
    const std::string used = used_variable(use, found.variable);
    finding.accesses = {access(*found.read, Role::First, found.process, "read", finding.variable),
                        access(*found.writer, Role::Remote, found.writer_process, "write", finding.variable),
                        access(*found.use, Role::Second, found.process,
                               use.write ? use.read ? "update" : "write" : "read", used)};
    finding.path = path(found);
    finding.id = finding_id(finding.kind, Pattern::None, finding.variable, {from, to});
    finding.rank = found.rule.empty() ? stale_rank(found) : kHarmless;
    finding.note = note(found.rule);
    const std::string effect =
        found.decided ? fmt::format("decides that {} {} {}", to, use.write ? "writes" : "reads", used)
        : use.write   ? fmt::format("is what {} writes to {} with", to, used)
                      : fmt::format("is used by {} to read {}", to, used);
    finding.why = fmt::format(
        "The value of {} that {} reads is kept after its critical section ends, and {}. Another thread ({}) "
        "may write {} in between, and the value is then out of date.",
        finding.variable, from, effect, own_frame(*found.writer).function, finding.variable);
    return finding;
  }

  Finding race(const HighLevelRace& found) const {
    Finding finding;
    finding.kind = FindingKind::HighLevelRace;
    const std::string one = model_.accesses.variable(found.first_variable).name,
                      two = model_.accesses.variable(found.second_variable).name;
    const Section &first = model_.sections[found.first], &second = model_.sections[found.second],
                  &whole = model_.sections[found.whole];
    finding.variable = one;
    finding.unit = unit(*first.begin, *second.begin);
    finding.units = {{first.owner.function, thread(found.process)},
                     {second.owner.function, thread(found.process)},
                     {whole.owner.function, thread(found.whole_process)}};
    const AccessKind theirs = found.kind == AccessKind::Read ? AccessKind::Write : AccessKind::Read;
    finding.accesses = {place(found.first, found.first_variable, found.kind, Role::First, found.process),
                        place(found.whole, found.first_variable, theirs, Role::Remote, found.whole_process),
                        place(found.whole, found.second_variable, theirs, Role::Remote, found.whole_process),
                        place(found.second, found.second_variable, found.kind, Role::Second, found.process)};
    finding.views = {names(found.first_view), names(found.second_view), names(found.whole_view)};
    if (found.meet != nullptr) {
      AccessReport step = access(*found.meet, Role::Step, found.process, "used together", {});
      finding.path.push_back(std::move(step));
    }
    std::vector<std::string> owners{first.owner.function, second.owner.function};
    finding.id = finding_id(finding.kind, Pattern::None, one + "," + two, owners);
    finding.rank = !found.rule.empty() ? kHarmless : found.one_object ? 1 : 2;
    finding.note = note(found.rule);
    finding.why =
        found.kind == AccessKind::Read
            ? fmt::format(
                  "{} reads {} and {} reads {} in two critical sections, but {} writes both in one: if it "
                  "runs in between, an old {} is used with a new {}.",
                  first.owner.function, one, second.owner.function, two, whole.owner.function, one, two)
            : fmt::format(
                  "{} writes {} and {} writes {} in two critical sections, but {} reads both in one: if it "
                  "runs in between, it sees the new {} with the old {}.",
                  first.owner.function, one, second.owner.function, two, whole.owner.function, one, two);
    return finding;
  }

  bool touches(SectionId section, VarId variable) const {
    const Contents& contents = model_.views.contents(section);
    return contents.reads.count(variable) != 0 || contents.writes.count(variable) != 0;
  }
  static constexpr uint32_t kHarmless = 9;

 private:
  std::string owner(SectionId section, const Instruction& at) const {
    return section == kNoSection ? own_frame(at).function : model_.sections[section].owner.function;
  }
  std::string thread(uint32_t process) const {
    const Process& of = model_.processes.all()[process];
    return of.name;
  }
  std::string unit(const Instruction& a, const Instruction& b) const {
    SectionId id = 0;
    if (model_.sections.common_unit(&a, &b, &id)) return model_.sections[id].unit;
    return common_function(a, b);
  }
  static std::string note(const std::string& rule) {
    return rule.empty() ? rule : fmt::format("taken for harmless by the rule `{}`", rule);
  }
  uint32_t stale_rank(const StaleValue& found) const {
    const bool same = found.to == kNoSection || touches(found.to, found.variable);
    if (!found.one_object) return 3;
    return found.writes && same && !found.tested_again ? 1 : 2;
  }
  std::string used_variable(const Access& use, VarId read) const {
    if (use.touches(read)) return model_.accesses.variable(read).name;
    const Touch& touch = use.write ? use.write : use.read;
    return model_.accesses.variable(touch.variables.front()).name;
  }
  std::vector<std::string> names(const VariableSet& view) const {
    std::set<std::string> result;
    for (VarId variable : view) result.insert(model_.accesses.variable(variable).name);
    return {result.begin(), result.end()};
  }

  AccessReport access(const Instruction& at, Role role, uint32_t process, const std::string& op,
                      const std::string& variable) const {
    AccessReport report;
    report.role = role;
    report.thread = thread(process);
    report.op = op;
    const std::string own = variable.empty() ? variable : model_.accesses.site_name(at);
    report.variable = own.empty() ? variable : own;
    const Frame frame = own_frame(at);
    report.function = frame.function;
    report.file = frame.file;
    report.line = frame.line;
    for (const Frame& around : WholeProgram::frames(at))
      report.stack.push_back(fmt::format("{} {}:{}", around.function, around.file, around.line));
    return report;
  }

  AccessReport place(SectionId section, VarId variable, AccessKind kind, Role role, uint32_t process) const {
    const Instruction* at = model_.sections[section].begin;
    std::string op = kind == AccessKind::Read ? "read" : "write";
    for (const Access* found : model_.views.contents(section).accesses) {
      if (!(kind == AccessKind::Read ? found->read : found->write).has(variable)) continue;
      at = found->at;
      break;
    }
    return access(*at, role, process, op, model_.accesses.variable(variable).name);
  }

  // Steps at the same line are one.
  std::vector<AccessReport> path(const StaleValue& found) const {
    std::vector<AccessReport> result;
    for (size_t i = 1; i + 1 < found.path.size(); ++i) {
      const Instruction& at = *found.path[i];
      const char* op = at.isTerminator()   ? "branch"
                       : isa<CmpInst>(at)  ? "compared"
                       : isa<CallBase>(at) ? "call"
                                           : "value";
      AccessReport step = access(at, Role::Step, found.process, op, {});
      step.stack.clear();
      if (step.line == 0) continue;
      if (!result.empty() && result.back().file == step.file && result.back().line == step.line) continue;
      result.push_back(std::move(step));
    }
    return result;
  }

  const Model& model_;
};

// A unit that takes one view apart into three sections splits it in three pairs: the first with the last
// stands for all of them.
void join_splits(std::vector<Finding>& findings) {
  auto same = [](const Finding& a, const Finding& b) {
    return a.kind == FindingKind::HighLevelRace && b.kind == a.kind && a.unit == b.unit && !a.unit.empty() &&
           a.units[2].name == b.units[2].name && a.accesses[0].op == b.accesses[0].op && a.rank == b.rank;
  };
  std::vector<Finding> kept;
  for (const Finding& finding : findings) {
    bool inner_first = false, inner_second = false;
    for (const Finding& other : findings) {
      if (!same(finding, other)) continue;
      inner_first |=
          other.units[1].name == finding.units[0].name && other.units[0].name != finding.units[0].name;
      inner_second |=
          other.units[0].name == finding.units[1].name && other.units[1].name != finding.units[1].name;
    }
    if (!inner_first && !inner_second) kept.push_back(finding);
    if (inner_first == inner_second) continue;
    // Kept after all where the pair that would stand for it was not found.
    const bool stands = std::any_of(findings.begin(), findings.end(), [&](const Finding& other) {
      return same(finding, other) && &other != &finding &&
             (inner_first ? other.units[1].name == finding.units[1].name
                          : other.units[0].name == finding.units[0].name);
    });
    if (!stands) kept.push_back(finding);
  }
  findings = std::move(kept);
}

}  // namespace

std::vector<Finding> describe(const Model& model, const std::vector<HighLevelRace>& races,
                              const std::vector<StaleValue>& stale_values) {
  const Describer describer(model);
  std::map<std::tuple<FindingKind, std::string, std::string>, Finding> best;
  auto take = [&](Finding finding) {
    auto key = std::tuple(finding.kind, finding.units[0].name, finding.units[1].name);
    auto [it, fresh] = best.try_emplace(key, finding);
    if (fresh) return;
    const uint64_t count = it->second.occurrences + 1;
    auto order = [](const Finding& f) { return std::tuple(f.rank, f.path.size(), f.variable, f.id); };
    if (order(finding) < order(it->second)) it->second = std::move(finding);
    it->second.occurrences = count;
  };
  std::set<std::pair<std::string, std::string>> same;  // the second section works on the variable itself
  for (const StaleValue& found : stale_values) {
    Finding finding = describer.stale(found);
    if (found.to == kNoSection || describer.touches(found.to, found.variable))
      same.insert({finding.units[0].name, finding.units[1].name});
    take(std::move(finding));
  }
  for (const HighLevelRace& found : races) take(describer.race(found));
  for (auto& [key, finding] : best) {
    // Both sides in threads of one kind are still two threads.
    for (AccessReport& access : finding.accesses) {
      if (access.role == Role::Remote && access.thread == finding.accesses[0].thread)
        access.thread = "another " + access.thread;
    }
  }
  std::vector<Finding> result;
  for (auto& [key, finding] : best) {
    // One mistake, one finding: two sections that split a pair of variables are a race; the value that goes
    // from one to the other says nothing more, unless the second section works on the same variable.
    if (!model.options.paper && finding.kind != FindingKind::Triple) {
      const bool race = finding.kind == FindingKind::HighLevelRace;
      auto other = best.find(std::tuple(race ? FindingKind::StaleValue : FindingKind::HighLevelRace,
                                        std::get<1>(key), std::get<2>(key)));
      if (other != best.end()) {
        const Finding& stale = race ? other->second : finding;
        const Finding& split = race ? finding : other->second;
        const bool keep_stale =
            split.rank == Describer::kHarmless ||
            (stale.rank != Describer::kHarmless && same.count({std::get<1>(key), std::get<2>(key)}) != 0);
        if (race == keep_stale) continue;
      }
    }
    result.push_back(finding);
  }
  join_splits(result);
  std::sort(result.begin(), result.end(), [](const Finding& a, const Finding& b) {
    return std::tuple(a.rank, a.kind, a.path.size(), std::string_view(a.id)) <
           std::tuple(b.rank, b.kind, b.path.size(), std::string_view(b.id));
  });
  return result;
}

}  // namespace cleave::static_analysis
