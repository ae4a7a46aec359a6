#include "analysis/static/stale_values.h"

#include <llvm/IR/Constants.h>

#include <algorithm>
#include <tuple>

namespace cleave::static_analysis {

using namespace llvm;

namespace {

class Finder {
 public:
  explicit Finder(Model& model) : model_(model) {
    for (const Access& access : model.accesses.all()) {
      if (access.fresh && !model.options.paper) continue;
      for (VarId variable : access.write.variables) writers_[variable].push_back(&access);
    }
  }

  std::vector<StaleValue> run() {
    for (const Access& access : model_.accesses.all()) {
      if (!access.read) continue;
      // Definition 10: variables accessed inside a section, or by an atomic operation.
      if (model_.sections.holding(access.at).empty() && !access.atomic) continue;
      from(access);
    }
    return std::move(found_);
  }

 private:
  // The view dependency graph D_V: an edge from the section of `read` to each section that its value enters.
  void from(const Access& read) {
    if (!written_by_others(read)) return;
    const Dependences& dependences = model_.dependences.of(read.at);
    uint32_t all = 0;  // sections that exclude others; claims do not
    for (size_t i = 0; i < dependences.around.size() && i < 31; ++i)
      all |= model_.sections[dependences.around[i]].claim ? 0 : uint32_t{1} << i;
    for (uint32_t i = 1; i < dependences.reached.size(); ++i) {
      const Reached& reached = dependences.reached[i];
      const Access* use = model_.accesses.at(reached.at);
      if (use == nullptr || (all != 0 && (reached.held & all) == all)) continue;
      const std::vector<SectionId> holding = model_.sections.holding(use->at);
      if (holding.empty() && !use->atomic) continue;
      if (all == 0 && use->at == read.at && !reached.decided) continue;
      edge(read, *use, dependences, i, holding);
    }
  }

  bool written_by_others(const Access& read) const {
    for (VarId variable : read.read.variables) {
      if (writers_.count(variable) != 0) return true;
    }
    return false;
  }

  void edge(const Access& read, const Access& use, const Dependences& dependences, uint32_t index,
            const std::vector<SectionId>& holding) {
    const Reached& reached = dependences.reached[index];
    StaleValue stale;
    stale.read = read.at;
    stale.use = use.at;
    stale.decided = reached.decided;
    std::vector<SectionId> lasting;
    for (size_t i = 0; i < dependences.around.size(); ++i) {
      const Section& section = model_.sections[dependences.around[i]];
      const bool lasts = (reached.held >> i & 1) != 0;
      if (section.annotated && lasts) stale.in_unit = true;
      if (section.claim) continue;
      if (lasts) {
        lasting.push_back(dependences.around[i]);
      } else if (stale.from == kNoSection) {
        stale.from = dependences.around[i];
      }
    }
    for (SectionId id : holding) {
      if (stale.to == kNoSection && std::find(lasting.begin(), lasting.end(), id) == lasting.end())
        stale.to = id;
    }
    if (stale.to == kNoSection && !use.atomic) return;
    // Uses of one value in one section are one mistake: a few are enough to find the plainest.
    if (++uses_[{read.at, stale.from, stale.to}] > kMostUses) return;
    for (VarId variable : read.read.variables) {
      stale.variable = variable;
      if (!written_meanwhile(read, lasting, stale)) continue;
      describe(read, use, reached, stale);
      stale.tested_again =
          !model_.options.paper && (tested_again(use, stale) || another_round(read, use, stale));
      stale.rule = model_.options.paper ? std::string() : harmless(read, use, dependences, index, stale);
      if (!stale.rule.empty() && !model_.options.all) continue;
      stale.path.clear();
      for (uint32_t at = index; at != 0; at = dependences.reached[at].from)
        stale.path.push_back(dependences.reached[at].at);
      stale.path.push_back(read.at);
      std::reverse(stale.path.begin(), stale.path.end());
      found_.push_back(stale);
    }
  }

  // Definition 11: some process writes the variable; and, beyond the paper, may do so while the value is out.
  bool written_meanwhile(const Access& read, const std::vector<SectionId>& lasting, StaleValue& stale) const {
    auto writers = writers_.find(stale.variable);
    if (writers == writers_.end()) return false;
    for (uint32_t p : model_.processes.running(read.at->getFunction())) {
      for (const Access* writer : writers->second) {
        for (uint32_t q : model_.processes.running(writer->at->getFunction())) {
          if (!model_.parallel(read.at, p, writer->at, q) || excluded(lasting, writer->at)) continue;
          stale.process = p;
          stale.writer_process = q;
          stale.writer = writer->at;
          return true;
        }
      }
    }
    return false;
  }

  bool excluded(const std::vector<SectionId>& lasting, const Instruction* writer) const {
    if (model_.options.paper) return false;
    for (SectionId theirs : model_.sections.holding(writer)) {
      for (SectionId ours : lasting) {
        if (model_.sections.exclude(ours, theirs)) return true;
      }
    }
    return false;
  }

  void describe(const Access& read, const Access& use, const Reached& reached, StaleValue& stale) const {
    stale.writes_same = use.write.has(stale.variable) && !reached.as_address;
    stale.writes = static_cast<bool>(use.write);
    stale.one_object = model_.accesses.variable(stale.variable).one_object;
  }

  // The rules. Each names why the pattern is right as it is; docs/static.md has their measured effect.
  std::string harmless(const Access& read, const Access& use, const Dependences& dependences, uint32_t index,
                       const StaleValue& stale) const {
    if (model_.sections.has_annotations() && !stale.in_unit) return "not in one unit";
    if (!related(use, stale)) return "unrelated";
    if (taken(read, stale)) return "taken";
    if (steps_on(read, use, dependences, index, stale)) return "own step";
    if (validated(dependences, use, stale)) return "compared again";
    return {};
  }

  // The second section has nothing to do with the variable: neither it, nor one that is written together with
  // it.
  bool related(const Access& use, const StaleValue& stale) const {
    if (use.touches(stale.variable)) return true;
    if (stale.to == kNoSection) return false;
    const Contents& contents = model_.views.contents(stale.to);
    if (contents.reads.count(stale.variable) != 0 || contents.writes.count(stale.variable) != 0) return true;
    auto together = [&](VarId other) { return model_.views.written_together(stale.variable, other); };
    return std::any_of(use.read.variables.begin(), use.read.variables.end(), together) ||
           std::any_of(use.write.variables.begin(), use.write.variables.end(), together);
  }

  // The first section takes the value out: it changes what it found the value by (an index, the container).
  bool taken(const Access& read, const StaleValue& stale) const {
    if (stale.from == kNoSection) return false;
    const Contents& contents = model_.views.contents(stale.from);
    if (read.in_block && contents.writes.count(stale.variable) != 0) return true;
    const Value* pointer = getLoadStorePointerOperand(read.at);
    std::vector<const Value*> stack;
    if (pointer != nullptr) stack.push_back(pointer);
    for (int steps = 0; !stack.empty() && steps < 32; ++steps) {
      const auto* value = dyn_cast<Instruction>(stack.back());
      stack.pop_back();
      if (value == nullptr) continue;
      if (const Access* access = isa<LoadInst>(value) ? model_.accesses.at(value) : nullptr) {
        for (VarId variable : access->read.variables) {
          const bool one_place =
              model_.accesses.variable(variable).object == model_.accesses.variable(stale.variable).object;
          if (contents.writes.count(variable) != 0 && variable != stale.variable && one_place) return true;
        }
        continue;
      }
      if (isa<PHINode>(value) || isa<CallBase>(value)) continue;
      for (const Use& operand : value->operands()) stack.push_back(operand.get());
    }
    return false;
  }

  // Before the value leaves, the first section has made its own step because of it (a ticket, a state that it
  // claimed): what follows is its own, unless the value is then written back to the variable.
  bool steps_on(const Access& read, const Access& use, const Dependences& dependences, uint32_t index,
                const StaleValue& stale) const {
    if (stale.writes_same && !dependences.reached[index].decided) return false;
    if (stale.from == kNoSection) return read.write.has(stale.variable);
    std::vector<const Instruction*> steps;
    for (const Access* access : model_.views.contents(stale.from).accesses) {
      if (access->at->getFunction() == read.at->getFunction() && access->write.has(stale.variable))
        steps.push_back(access->at);
    }
    for (const Reached& reached : dependences.reached) {
      const Access* access = model_.accesses.at(reached.at);
      if (access == nullptr || !access->write || reached.at->getFunction() != read.at->getFunction())
        continue;
      const std::vector<SectionId>& around = model_.sections.around(reached.at);
      if (std::find(around.begin(), around.end(), stale.from) != around.end()) steps.push_back(reached.at);
    }
    if (steps.empty()) return false;
    if (use.at->getFunction() != read.at->getFunction()) return true;
    return !model_.flows_of(*read.at->getFunction()).way_around(read.at, use.at, steps);
  }

  // The second section reads the variable itself before the use, and that decides whether the use happens.
  bool tested_again(const Access& use, const StaleValue& stale) const {
    if (stale.to == kNoSection) return false;
    for (const Access* again : model_.views.contents(stale.to).accesses) {
      if (again->at == use.at || again->at == stale.read || !again->read.has(stale.variable)) continue;
      for (const Reached& reached : model_.dependences.of(again->at).reached) {
        if (reached.at == use.at && reached.decided) return true;
      }
    }
    return false;
  }

  // The value only decides that a loop goes round again, and the section of that round reads the variable
  // anew.
  bool another_round(const Access& read, const Access& use, const StaleValue& stale) const {
    if (!stale.decided || stale.to == kNoSection || use.at->getFunction() != read.at->getFunction())
      return false;
    if (model_.views.contents(stale.to).reads.count(stale.variable) == 0) return false;
    const ControlFlow& flow = model_.flows_of(*read.at->getFunction());
    const Loop* loop = flow.common_loop(read.at, use.at);
    return loop != nullptr && !flow.reaches(read.at, use.at, {}, loop);
  }

  // The second section compares the variable with the value, and goes on only if it is still the same.
  bool validated(const Dependences& dependences, const Access& use, const StaleValue& stale) const {
    if (const auto* exchange = dyn_cast<AtomicCmpXchgInst>(use.at);
        exchange != nullptr && use.write.has(stale.variable))
      return true;
    for (const Reached& reached : dependences.reached) {
      const auto* compare = dyn_cast<ICmpInst>(reached.at);
      if (compare == nullptr || !compare->isEquality() || reached.decided) continue;
      if (!dependences.reached[reached.from].copy) continue;
      for (const Value* operand : compare->operands()) {
        const auto* again = dyn_cast<Instruction>(operand);
        const Access* fresh = again == nullptr ? nullptr : model_.accesses.at(again);
        if (fresh == nullptr || !fresh->read.has(stale.variable) || again == stale.read) continue;
        if (again == use.at) return true;
        if (compare->getFunction() == use.at->getFunction() &&
            model_.flows_of(*compare->getFunction()).dominates(compare, use.at))
          return true;
      }
    }
    return false;
  }

  Model& model_;
  std::map<VarId, std::vector<const Access*>> writers_;
  std::vector<StaleValue> found_;
  static constexpr uint32_t kMostUses = 12;
  std::map<std::tuple<const Instruction*, SectionId, SectionId>, uint32_t> uses_;
};

}  // namespace

std::vector<StaleValue> find_stale_values(Model& model) { return Finder(model).run(); }

}  // namespace cleave::static_analysis
