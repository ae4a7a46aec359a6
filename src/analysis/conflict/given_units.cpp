// Units that were found before, for a whole trace: one node for each unit and group of variables. Edges are
// conflicts, and the order of a thread's units on one group.
#include <boost/unordered/unordered_flat_map.hpp>
#include <utility>
#include <vector>

#include "analysis/conflict/engine.h"
#include "findings/place.h"

namespace cleave::conflict {
namespace {

class GivenUnits final : public Engine {
 public:
  GivenUnits(SetMap& sets, const Trace& tables, const CheckOptions& options, const UnitMap& units)
      : Engine(sets, tables, options), given_(units), last_of_unit_(units.units.size(), 0) {
    log_.set_units(units);
  }

  bool feed(std::span<const Event> events, uint64_t first) override {
    memory_.reserve(tables_.variable_count());
    find_ends(events, first);
    for (size_t i = 0; i < events.size(); ++i) {
      const Event& event = events[i];
      if (!counts(event)) continue;
      one(event, first + i);
      if (stopped()) return false;
    }
    return true;
  }
  size_t deepest() const override { return given_.units.empty() ? 0 : 1; }

 private:
  // How the standard library synchronizes is its own affair.
  bool counts(const Event& event) const {
    return is_access(event.kind) && !(event.atomic() && librarys_own(tables_, event));
  }
  // Where each unit has its last access: there its nodes end.
  void find_ends(std::span<const Event> events, uint64_t first) {
    for (size_t i = 0; i < events.size(); ++i) {
      if (UnitId unit = given_.by_event[first + i]; unit != kNone<UnitId> && counts(events[i]))
        last_of_unit_[raw(unit)] = first + i;
    }
  }
  uint32_t group_of(const Event& event) {
    return given_.groups.empty() ? raw(sets_.set_of(event.variable())) : given_.groups[event.object];
  }

  void one(const Event& event, uint64_t position) {
    const UnitId unit = given_.by_event[position];
    const uint32_t group = group_of(event);
    if (unit == kNone<UnitId>) {
      const NodeRef node = open({.thread = event.thread,
                                 .site = event.site,
                                 .context = event.context,
                                 .begin = EventIndex{position},
                                 .end = EventIndex{position},
                                 .context_only = true});
      after_the_last(node, event, group, position);
      access(node, event, position);
      graph_.end(node);
      note_end(node, event, group);
      return;
    }
    auto [it, fresh] = nodes_.try_emplace(uint64_t{raw(unit)} << 32 | group, NodeRef{});
    if (fresh) {
      it->second = open(given_.unit(unit));
      open_of_unit_[raw(unit)].push_back({it->second, group});
      after_the_last(it->second, event, group, position);
    }
    access(it->second, event, position);
    if (position != last_of_unit_[raw(unit)]) return;
    for (auto [node, its_group] : open_of_unit_[raw(unit)]) {
      graph_.end(node);
      note_end(node, event, its_group);
    }
    open_of_unit_.erase(raw(unit));
  }

  // The units of the thread on the same group that were over before this one began come first in every serial
  // order.
  void after_the_last(NodeRef node, const Event& event, uint32_t group, uint64_t position) {
    const Last& last = last_[uint64_t{raw(event.thread)} << 32 | group];
    if (last.node.generation == 0 || !graph_.alive(last.node)) return;
    connect(last.node, node,
            {.kind = EdgeKind::ProgramOrder,
             .first_kind = last.kind,
             .second_kind = event.kind,
             .era = names_.era(),
             .first = last.access,
             .second = {event.value, event.site, event.context}},
            position);
  }
  void note_end(NodeRef node, const Event& event, uint32_t group) {
    last_[uint64_t{raw(event.thread)} << 32 | group] = {
        node, event.kind, {event.value, event.site, event.context}};
  }

  struct Last {
    NodeRef node;
    EventKind kind = EventKind::Read;
    Access access;
  };
  const UnitMap& given_;
  std::vector<uint64_t> last_of_unit_;                  // by unit: position of its last access
  boost::unordered_flat_map<uint64_t, NodeRef> nodes_;  // unit and group
  boost::unordered_flat_map<uint32_t, std::vector<std::pair<NodeRef, uint32_t>>>
      open_of_unit_;                                // with groups
  boost::unordered_flat_map<uint64_t, Last> last_;  // thread and group
};

}  // namespace

std::unique_ptr<Engine> make_given_units(SetMap& sets, const Trace& tables, const CheckOptions& options,
                                         const UnitMap& units) {
  return std::make_unique<GivenUnits>(sets, tables, options, units);
}

}  // namespace cleave::conflict
