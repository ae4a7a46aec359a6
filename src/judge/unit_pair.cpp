#include "judge/unit_pair.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "findings/value_text.h"
#include "judge/version_chain.h"

namespace cleave::judge {
namespace {

using Effects = std::map<VariableId, Effect>;

class UnitPair {
 public:
  explicit UnitPair(const Case& judged)
      : case_(judged),
        unit_(judged.blocks.of(judged.triple.first)),
        other_(judged.blocks.of(judged.triple.remote)),
        unit_effects_(effects_of(unit_)),
        other_effects_(effects_of(other_)) {
    for (const auto& [variable, effect] : unit_effects_) {
      auto theirs = other_effects_.find(variable);
      if (theirs == other_effects_.end() || !judged.memory.explained(variable)) continue;
      if (effect.leaves || theirs->second.leaves) shared_.push_back(variable);
    }
  }

  std::optional<std::string> no_order() const {
    for (BlockId id : {unit_, other_}) {
      if (id == broken_)
        return label(id) + " reads something else than it left itself: no serial order gives that.";
      for (VariableId variable : shared_) {
        if (!VersionChain(case_, variable).exposes_intermediate(id)) continue;
        const bool other_variable = case_.trace.event(case_.triple.first).variable() != variable;
        return fmt::format(
            "{} value of {} that {} writes only on the way to another was read by others: in any serial "
            "order nobody sees it.",
            other_variable ? "It takes another variable to show it. A" : "A",
            case_.trace.variable(variable).name, label(id));
      }
    }
    const std::optional<std::string> not_first = impossible(unit_, unit_effects_, other_, other_effects_);
    if (!not_first) return std::nullopt;
    const std::optional<std::string> not_second = impossible(other_, other_effects_, unit_, unit_effects_);
    if (!not_second) return std::nullopt;
    return fmt::format("Neither order explains it: were {} first, {}; were {} first, {}.", label(unit_),
                       *not_first, label(other_), *not_second);
  }

 private:
  Effects effects_of(BlockId id) {
    Effects effects;
    std::map<VariableId, uint64_t> seen;  // by the unit itself
    const Block& block = case_.blocks.block(id);
    for (EventIndex index : case_.memory.accesses(block.thread, block.first, block.last)) {
      const Event& event = case_.trace.event(index);
      auto [it, fresh] = effects.try_emplace(event.variable());
      if (reads(event.kind)) {
        const uint64_t value = case_.memory.value_read(index);
        if (fresh)
          it->second.needs = value;
        else if (seen[event.variable()] != value && case_.memory.explained(event.variable()))
          broken_ = id;
      }
      if (writes(event.kind)) it->second.leaves = event.value;
      seen[event.variable()] = event.value;
    }
    return effects;
  }

  // Why no serial order has `earlier` before `later`.
  std::optional<std::string> impossible(BlockId earlier, const Effects& before, BlockId later,
                                        const Effects& after) const {
    if (case_.blocks.must_precede(later, earlier))
      return label(later) + " would have to come first all the same";
    for (VariableId variable : shared_) {
      const Effect &first = before.at(variable), &second = after.at(variable);
      const std::string& name = case_.trace.variable(variable).name;
      if (second.needs && !can_read_later(variable, *second.needs, earlier, first, later)) {
        return fmt::format("{} could not read {} from {}", label(later), text(variable, *second.needs), name);
      }
      if (first.needs && !can_read_earlier(variable, *first.needs, earlier, later)) {
        return fmt::format("{} could not read {} from {}", label(earlier), text(variable, *first.needs),
                           name);
      }
      if (case_.final_writes && second.leaves && !can_end_with(variable, earlier, later, *second.leaves)) {
        return fmt::format("{} could not end as {}", name, text(variable, case_.memory.final(variable)));
      }
      if (VersionChain(case_, variable).excludes(earlier, later)) {
        return fmt::format("the values that {} took could not have followed each other", name);
      }
    }
    return std::nullopt;
  }

  bool can_read_later(VariableId variable, uint64_t value, BlockId earlier, const Effect& first,
                      BlockId later) const {
    if (first.leaves == value) return true;
    if (!first.leaves && value == case_.memory.initial(variable) && !written_before(variable, later))
      return true;
    return any_writer(variable, value, [&](BlockId writer, EventIndex write) {
      return writer != earlier && writer != later && !case_.blocks.must_precede(later, writer) &&
             !(first.leaves && case_.blocks.must_precede(writer, earlier)) && !hidden(variable, write, later);
    });
  }

  bool can_read_earlier(VariableId variable, uint64_t value, BlockId earlier, BlockId later) const {
    if (value == case_.memory.initial(variable) && !written_before(variable, earlier)) return true;
    return any_writer(variable, value, [&](BlockId writer, EventIndex write) {
      return writer != earlier && writer != later && !case_.blocks.must_precede(earlier, writer) &&
             !case_.blocks.must_precede(later, writer) && !hidden(variable, write, earlier);
    });
  }

  bool can_end_with(VariableId variable, BlockId earlier, BlockId later, uint64_t left) const {
    const uint64_t final = case_.memory.final(variable);
    if (left == final) return true;
    return any_writer(variable, final, [&](BlockId writer, EventIndex write) {
      return writer != earlier && writer != later && !case_.blocks.must_precede(writer, later) &&
             !next_write_elsewhere(variable, write);
    });
  }

  // Whether some unit leaves `value` at the location and `may` says that it can be the one.
  template <typename May>
  bool any_writer(VariableId variable, uint64_t value, May may) const {
    constexpr size_t kLooked = 4096;  // beyond that it is taken to be possible
    const auto& of_value = case_.memory.values_of(variable).written;
    auto it = of_value.find(value);
    if (it == of_value.end()) return false;
    if (it->second.size() > kLooked) return true;
    return std::any_of(it->second.begin(), it->second.end(), [&](EventIndex write) {
      const BlockId writer = case_.blocks.of(write);
      return last_of_its_unit(variable, write) && may(writer, write);
    });
  }

  // The write of the same thread that comes next after this one, or nothing.
  std::optional<EventIndex> next_write(VariableId variable, EventIndex write) const {
    const auto& own = case_.memory.values_of(variable).by_thread.at(case_.trace.event(write).thread);
    auto it = std::upper_bound(own.begin(), own.end(), write);
    while (it != own.end() && !writes(case_.trace.event(*it).kind)) ++it;
    return it == own.end() ? std::nullopt : std::optional(*it);
  }

  bool last_of_its_unit(VariableId variable, EventIndex write) const {
    const std::optional<EventIndex> next = next_write(variable, write);
    return !next || case_.blocks.of(*next) != case_.blocks.of(write);
  }

  bool next_write_elsewhere(VariableId variable, EventIndex write) const {
    return next_write(variable, write).has_value();
  }

  // Overwritten, in every serial order, by its own thread before `reader` starts.
  bool hidden(VariableId variable, EventIndex write, BlockId reader) const {
    const std::optional<EventIndex> next = next_write(variable, write);
    return next && case_.blocks.must_precede(case_.blocks.of(*next), reader);
  }

  // Whether the initial value is gone, in every serial order, before `reader` starts.
  bool written_before(VariableId variable, BlockId reader) const {
    const auto& by_thread = case_.memory.values_of(variable).by_thread;
    return std::any_of(by_thread.begin(), by_thread.end(), [&](const auto& own) {
      auto first = std::find_if(own.second.begin(), own.second.end(),
                                [&](EventIndex index) { return writes(case_.trace.event(index).kind); });
      return first != own.second.end() && case_.blocks.must_precede(case_.blocks.of(*first), reader);
    });
  }

  // As the accesses of findings are written: by the type of the place that accesses it first.
  std::string text(VariableId variable, uint64_t value) const {
    const auto accesses = case_.memory.accesses(variable);
    const SiteId site = accesses.empty() ? kNone<SiteId> : case_.trace.event(*accesses.begin()).site;
    return value_text(value, site == kNone<SiteId> ? "" : case_.trace.site(site).type);
  }

  std::string label(BlockId id) const {
    const Block& block = case_.blocks.block(id);
    const std::string& thread = case_.trace.thread(block.thread).name;
    if (!block.declared || block.name == kNone<UnitNameId>) return thread + "'s access";
    return fmt::format("{} ({})", case_.trace.unit_name(block.name).name, thread);
  }

  const Case& case_;
  BlockId unit_, other_;
  BlockId broken_ = kNone<BlockId>;  // one of the two that no order can explain
  Effects unit_effects_, other_effects_;
  std::vector<VariableId> shared_;
};

}  // namespace

std::optional<std::string> pair_has_no_order(const Case& judged) { return UnitPair(judged).no_order(); }

}  // namespace cleave::judge
