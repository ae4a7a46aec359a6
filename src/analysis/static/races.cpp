#include "analysis/static/races.h"

#include <llvm/IR/Constants.h>

#include <algorithm>

namespace cleave::static_analysis {

using namespace llvm;

namespace {

VarId only_in(const VariableSet& a, const VariableSet& b) {
  for (VarId variable : a) {
    if (b.count(variable) == 0) return variable;
  }
  return a.empty() ? 0 : *a.begin();
}

class Finder {
 public:
  explicit Finder(Model& model) : model_(model) {}

  std::vector<HighLevelRace> run() {
    const size_t count = model_.processes.all().size();
    std::vector<std::vector<View>> views(count);
    for (uint32_t p = 0; p < count; ++p) views[p] = views_of(p);
    for (uint32_t p1 = 0; p1 < count; ++p1) {
      for (uint32_t p2 = 0; p2 < count; ++p2) {
        // A process that runs several times is compared with itself.
        if (p1 == p2 && !model_.processes.all()[p1].several) continue;
        compare(views[p1], p1, views[p2], p2);
      }
    }
    return std::move(found_);
  }

 private:
  // V(p): views of the sections that the process may execute. The outermost counts.
  std::vector<View> views_of(uint32_t p) const {
    std::vector<View> result;
    for (SectionId id = 0; id < model_.views.count(); ++id) {
      const Section& section = model_.sections[id];
      const std::vector<uint32_t>& by = model_.processes.running(section.begin->getFunction());
      if (section.claim || std::find(by.begin(), by.end(), p) == by.end()) continue;
      if (!model_.options.paper && !model_.sections.holding(section.begin).empty()) continue;
      for (const View& view : model_.views.views(id)) result.push_back(view);
    }
    return result;
  }

  void compare(const std::vector<View>& one, uint32_t p1, const std::vector<View>& two, uint32_t p2) {
    if (model_.options.artho) {
      const std::vector<PartialView> theirs = plain_views(two);
      for (const PartialView& maximal : maximal_views(plain_views(one))) {
        for (const Incompatible& found : incompatible(theirs, maximal, AccessKind::Write, nullptr))
          take(found, p1, p2);
      }
      return;
    }
    // Definition 8 asks for a correlation of reads; beyond the paper, of reads that one thread really makes
    // one after the other.
    auto correlated = [&](const PartialView& first, const VariableSet& first_overlap,
                          const PartialView& second, const VariableSet& second_overlap) {
      if (!model_.options.paper && !sequence(first.section, second.section)) return false;
      return meeting(first.section, first_overlap, second.section, second_overlap) != nullptr;
    };
    for (const Incompatible& found : inconsistent(one, two, correlated)) take(found, p1, p2);
  }

  // An access of the section on that variable.
  const Access* access_of(SectionId section, VarId variable, AccessKind kind) const {
    for (const Access* access : model_.views.contents(section).accesses) {
      if (model_.options.artho ? access->touches(variable)
                               : (kind == AccessKind::Read ? access->read : access->write).has(variable))
        return access;
    }
    return nullptr;
  }

  const Instruction* meeting(SectionId a, const VariableSet& x, SectionId b, const VariableSet& y) {
    for (const Access* one : model_.views.contents(a).accesses) {
      if (!one->read || !touches(*one, x, y)) continue;
      for (const Access* two : model_.views.contents(b).accesses) {
        if (!two->read || !touches(*two, y, x)) continue;
        if (const Instruction* both = model_.dependences.common(one->at, two->at)) return both;
      }
    }
    return nullptr;
  }

  // Reads something of `mine` that is not in `theirs`.
  static bool touches(const Access& access, const VariableSet& mine, const VariableSet& theirs) {
    return std::any_of(access.read.variables.begin(), access.read.variables.end(), [&](VarId variable) {
      return mine.count(variable) != 0 && theirs.count(variable) == 0;
    });
  }

  bool sequence(SectionId a, SectionId b) const {
    const Instruction *one = model_.sections[a].begin, *two = model_.sections[b].begin;
    if (a == b || one->getFunction() != two->getFunction()) return false;
    return model_.flows_of(*one->getFunction()).reaches(one, two) ||
           model_.flows_of(*one->getFunction()).reaches(two, one);
  }

  void take(const Incompatible& found, uint32_t p1, uint32_t p2) {
    HighLevelRace race;
    race.first = found.first.section;
    race.second = found.second.section;
    race.whole = found.maximal.section;
    race.process = p2;
    race.whole_process = p1;
    race.kind = found.maximal_kind == AccessKind::Read ? AccessKind::Write : AccessKind::Read;
    race.first_view = found.first_overlap;
    race.second_view = found.second_overlap;
    race.whole_view = found.maximal.variables;
    const Instruction *one = model_.sections[race.first].begin, *two = model_.sections[race.second].begin;
    if (one->getFunction() == two->getFunction() && !model_.flows_of(*one->getFunction()).reaches(one, two)) {
      std::swap(race.first, race.second);
      std::swap(race.first_view, race.second_view);
    }
    race.first_variable = only_in(race.first_view, race.second_view);
    race.second_variable = only_in(race.second_view, race.first_view);
    race.one_object = model_.accesses.variable(race.first_variable).one_object &&
                      model_.accesses.variable(race.second_variable).one_object;
    if (race.kind == AccessKind::Read && !model_.options.artho)
      race.meet = meeting(race.first, race.first_view, race.second, race.second_view);
    if (!model_.options.paper && !model_.options.artho) {
      if (!possible(race)) return;
      race.rule = harmless(race);
      if (!race.rule.empty() && !model_.options.all) return;
    }
    found_.push_back(std::move(race));
  }

  bool possible(const HighLevelRace& race) const {
    const Instruction *one = model_.sections[race.first].begin, *two = model_.sections[race.second].begin;
    const Instruction* whole = model_.sections[race.whole].begin;
    return sequence(race.first, race.second) &&
           model_.parallel(one, race.process, whole, race.whole_process) &&
           model_.parallel(two, race.process, whole, race.whole_process);
  }

  std::string harmless(const HighLevelRace& race) const {
    const Instruction *one = model_.sections[race.first].begin, *two = model_.sections[race.second].begin;
    SectionId unit = 0;
    if (model_.sections.has_annotations() &&
        !(model_.sections.common_unit(one, two, &unit) &&
          model_.flows_of(*one->getFunction()).reaches(one, two, {model_.sections[unit].begin})))
      return "not in one unit";
    if (race.kind == AccessKind::Read) return {};
    const ControlFlow& flow = model_.flows_of(*one->getFunction());
    if (!flow.dominates(one, two) || !flow.always_followed(one, two)) return "not one step";
    if (counts(race.first, race.first_variable) && counts(race.second, race.second_variable))
      return "counters";
    if (repeats(race)) return "repeated";
    return {};
  }

  // The same critical section twice, and each of them may write both variables: two whole steps of which
  // each took another branch.
  bool repeats(const HighLevelRace& race) const {
    const Frame &one = model_.sections[race.first].owner, &two = model_.sections[race.second].owner;
    if (one.function != two.function || one.file != two.file || one.line != two.line) return false;
    return model_.views.contents(race.first).writes.count(race.second_variable) != 0 &&
           model_.views.contents(race.second).writes.count(race.first_variable) != 0;
  }

  // Whether the section only adds to the variable: each write is the variable's own value plus or minus
  // something.
  bool counts(SectionId section, VarId variable) const {
    for (const Access* access : model_.views.contents(section).accesses) {
      if (!access->write.has(variable) || isa<AtomicRMWInst>(access->at)) continue;
      const auto* store = dyn_cast<StoreInst>(access->at);
      const auto* sum = store == nullptr ? nullptr : dyn_cast<BinaryOperator>(store->getValueOperand());
      if (sum == nullptr || (sum->getOpcode() != Instruction::Add && sum->getOpcode() != Instruction::Sub))
        return false;
      bool own = false;
      for (const Value* operand : sum->operands()) {
        const auto* load = dyn_cast<LoadInst>(operand);
        const Access* before = load == nullptr ? nullptr : model_.accesses.at(load);
        own |= before != nullptr && before->read.has(variable);
      }
      if (!own) return false;
    }
    return true;
  }

  Model& model_;
  std::vector<HighLevelRace> found_;
};

}  // namespace

std::vector<HighLevelRace> find_races(Model& model) { return Finder(model).run(); }

}  // namespace cleave::static_analysis
