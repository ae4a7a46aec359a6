// AtomChase figure 5, in forms that hold for any number of threads, with initial values and final writes; and
// the condition on pairs of units, which finds what three accesses cannot show.
#include "judge/conditions.h"

#include <fmt/format.h>

#include <algorithm>

#include "findings/value_text.h"
#include "judge/unit_pair.h"

namespace cleave::judge {
namespace {

class Conditions {
 public:
  explicit Conditions(const Case& judged)
      : case_(judged),
        first_(judged.trace.event(judged.triple.first)),
        remote_(judged.trace.event(judged.triple.remote)),
        second_(judged.trace.event(judged.triple.second)),
        variable_(first_.variable()),
        unit_(judged.blocks.of(judged.triple.first)) {}

  // C_RWR and C_WWR: the second access reads something else than the unit itself left there. Printed with "no
  // write of the unit in between writes it"; looking at the last such write decides it exactly.
  std::optional<ConditionProof> own_value_changed() const {
    if (!reads(second_.kind)) return std::nullopt;
    uint64_t expected = first_.value;
    bool written = writes(first_.kind);
    for (EventIndex index : accesses_between(case_.triple.first, case_.triple.second)) {
      const Event& event = case_.trace.event(index);
      if (case_.blocks.of(index) != unit_ || !writes(event.kind)) continue;
      expected = event.value;
      written = true;
    }
    const uint64_t seen = case_.memory.value_read(case_.triple.second);
    if (seen == expected) return std::nullopt;
    if (written) {
      // The table has the first access; what counts is the unit's last write before the second.
      const bool later = expected != first_.value;
      return ConditionProof{
          "C_WWR",
          fmt::format("{} {}wrote {} to {} and then read {} there: in any serial order it reads its "
                      "own write.",
                      unit_name(), later ? "last " : "", text(expected), variable_name(), text(seen))};
    }
    return ConditionProof{
        "C_RWR",
        fmt::format("{} read {} twice without writing it and got {}, then {}: in any serial order it "
                    "gets the same value twice.",
                    unit_name(), variable_name(), text(expected), text(seen))};
  }

  // C_WRW: what the remote access read is written by nobody but the unit on its way to something else (and
  // perhaps by the remote thread itself, later).
  std::optional<ConditionProof> saw_intermediate() const {
    if (!writes(first_.kind) || !reads(remote_.kind) || !writes(second_.kind)) return std::nullopt;
    const uint64_t value = case_.memory.value_read(case_.triple.remote);
    if (value == case_.memory.initial(variable_)) return std::nullopt;
    const EventIndex last = last_write_of_unit();
    for (EventIndex write : writes_of_value(value)) {
      const Event& event = case_.trace.event(write);
      const bool later = event.thread == remote_.thread && write > case_.triple.remote;
      const bool overwritten = case_.blocks.of(write) == unit_ && write != last;
      // A remote update that writes back what it read does not justify itself.
      if (!later && !overwritten && write != case_.triple.remote) return std::nullopt;
    }
    return ConditionProof{
        "C_WRW", fmt::format("{} read {} from {}, which only {} writes, and overwrites before it "
                             "ends: in any serial order nobody sees that value.",
                             thread_name(remote_.thread), text(value), variable_name(), unit_name())};
  }

  // C_RWW: the remote write cannot come before the unit (the unit read something older), and something shows
  // that it did not come after it either.
  std::optional<ConditionProof> lost_update() const {
    if (!reads(first_.kind) || !writes(remote_.kind) || !writes(second_.kind)) return std::nullopt;
    const uint64_t value = case_.memory.value_read(case_.triple.first);
    if (remote_.value == value) return std::nullopt;
    for (EventIndex index : unit_accesses()) {
      if (index >= case_.triple.first) break;
      if (writes(case_.trace.event(index).kind)) return std::nullopt;
    }
    for (EventIndex write : writes_of_value(value)) {
      const Event& event = case_.trace.event(write);
      const bool earlier = event.thread == remote_.thread && write < case_.triple.remote;
      const bool later = event.thread == first_.thread && write >= case_.triple.first;
      if (!earlier && !later) return std::nullopt;
    }
    if (!unit_came_last()) return std::nullopt;
    return ConditionProof{
        "C_RWW", fmt::format("{} read {} from {}, {} then wrote {}, and {} overwrote that: had the write "
                             "come before the unit, the "
                             "unit would have read it; after the unit, it would have stayed.",
                             unit_name(), text(value), variable_name(), thread_name(remote_.thread),
                             text(remote_.value), unit_name())};
  }

  // C_count: the unit, or the remote one, replaced a value that was replaced more often than it was there.
  // What a lost update leaves behind, however long the run goes on, and where values repeat.
  std::optional<ConditionProof> replaced_too_often() const {
    for (BlockId block : {unit_, case_.blocks.of(case_.triple.remote)}) {
      const std::optional<uint64_t> value = replaced_by(block);
      if (!value || !case_.flows.overdrawn(variable_, *value, case_.final_writes)) continue;
      const Flow count = case_.flows.flow(variable_, *value);
      const bool last = count.replaced <= count.left;
      return ConditionProof{
          "C_count",
          fmt::format("{} {} found {} in {} at their first access and replaced it{}, but the value was there "
                      "only {}: in any serial order each of them needs a time of its own.",
                      count.replaced, count.replaced == 1 ? "unit" : "units", text(*value), variable_name(),
                      last ? ", which is also its last value" : "", times(count.left))};
    }
    return std::nullopt;
  }

 private:
  // As the accesses of the finding are written, which have the type of their place.
  std::string text(uint64_t value) const {
    return value_text(value, first_.site == kNone<SiteId> ? "" : case_.trace.site(first_.site).type);
  }
  static std::string times(uint32_t count) { return count == 1 ? "once" : fmt::format("{} times", count); }

  // The value of the location that the unit finds and does not leave.
  std::optional<uint64_t> replaced_by(BlockId block) const {
    std::optional<uint64_t> needs, leaves;
    bool touched = false;
    const Block& span = case_.blocks.block(block);
    for (EventIndex index : case_.memory.accesses(span.thread, span.first, span.last)) {
      const Event& event = case_.trace.event(index);
      if (event.variable() != variable_) continue;
      if (reads(event.kind) && !touched) needs = case_.memory.value_read(index);
      if (writes(event.kind)) leaves = event.value;
      touched = true;
    }
    return needs && leaves && needs != leaves ? needs : std::nullopt;
  }

  // Values that the unit alone writes and that are there at the end, or that the remote thread reads after
  // its write.
  bool unit_came_last() const {
    for (EventIndex index : unit_accesses()) {
      const Event& event = case_.trace.event(index);
      if (!writes(event.kind) || !only_unit_writes(event.value)) continue;
      if (case_.final_writes && case_.memory.final(variable_) == event.value) return true;
      if (remote_thread_reads_later(event.value)) return true;
    }
    return false;
  }

  bool only_unit_writes(uint64_t value) const {
    const auto writes = writes_of_value(value);
    return std::all_of(writes.begin(), writes.end(),
                       [&](EventIndex write) { return case_.blocks.of(write) == unit_; });
  }

  bool remote_thread_reads_later(uint64_t value) const {
    constexpr ptrdiff_t kLooked = 4096;  // keeps a hot location from costing its whole length for each triple
    const auto all = case_.memory.accesses(variable_);
    auto it = std::upper_bound(all.begin(), all.end(), case_.triple.remote);
    const auto end = all.end() - it > kLooked ? it + kLooked : all.end();
    return std::any_of(it, end, [&](EventIndex index) {
      const Event& event = case_.trace.event(index);
      return event.thread == remote_.thread && reads(event.kind) && case_.memory.value_read(index) == value;
    });
  }

  // Accesses of the location strictly between two positions.
  std::span<const EventIndex> accesses_between(EventIndex from, EventIndex to) const {
    const auto all = case_.memory.accesses(variable_);
    const auto begin = std::upper_bound(all.begin(), all.end(), from),
               end = std::lower_bound(begin, all.end(), to);
    return {begin, end};
  }

  // The unit's accesses of the location.
  std::vector<EventIndex> unit_accesses() const {
    const Block& block = case_.blocks.block(unit_);
    const auto all = case_.memory.accesses(variable_);
    std::vector<EventIndex> own;
    for (auto it = std::lower_bound(all.begin(), all.end(), block.first);
         it != all.end() && *it <= block.last; ++it) {
      if (case_.blocks.of(*it) == unit_) own.push_back(*it);
    }
    return own;
  }

  EventIndex last_write_of_unit() const {
    EventIndex last = case_.triple.second;
    for (EventIndex index : unit_accesses()) {
      if (writes(case_.trace.event(index).kind)) last = index;
    }
    return last;
  }

  std::span<const EventIndex> writes_of_value(uint64_t value) const {
    const auto& written = case_.memory.values_of(variable_).written;
    auto it = written.find(value);
    return it == written.end() ? std::span<const EventIndex>() : std::span(it->second);
  }

  std::string unit_name() const {
    const UnitNameId name = case_.blocks.block(unit_).name;
    return name == kNone<UnitNameId> ? thread_name(first_.thread) : case_.trace.unit_name(name).name;
  }
  const std::string& thread_name(ThreadId thread) const { return case_.trace.thread(thread).name; }
  const std::string& variable_name() const { return case_.trace.variable(variable_).name; }

  const Case& case_;
  const Event &first_, &remote_, &second_;
  VariableId variable_;
  BlockId unit_;
};

}  // namespace

std::optional<ConditionProof> prove_by_conditions(const Case& judged) {
  const Conditions conditions(judged);
  if (auto proof = conditions.own_value_changed()) return proof;
  if (auto proof = conditions.saw_intermediate()) return proof;
  if (auto proof = conditions.lost_update()) return proof;
  if (auto proof = conditions.replaced_too_often()) return proof;
  if (std::optional<std::string> why = pair_has_no_order(judged)) return ConditionProof{"C_pair", *why};
  return std::nullopt;
}

}  // namespace cleave::judge
