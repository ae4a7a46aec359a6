#include "units/find.h"

#include <boost/unordered/unordered_flat_set.hpp>

#include "units/sharing.h"

namespace cleave::units {
namespace {

// Longer units take only the accesses that show them.
constexpr size_t kLongest = 100'000;

void overlay(const RecordedTrace& recorded, const CausalUnit& causal,
             const std::vector<std::vector<uint32_t>>& by_thread, UnitMap& map) {
  const Trace& trace = recorded.trace;
  const UnitId id{static_cast<uint32_t>(map.units.size())};
  Unit unit = causal.unit;
  // The critical sections in it are wholly in it.
  auto around = [&](EventIndex event) { return map.by_event[raw(event)]; };
  if (UnitId section = around(unit.begin); section != kNone<UnitId> && map.unit(section).cause == UINT32_MAX)
    unit.begin = std::min(unit.begin, map.unit(section).begin);
  if (UnitId section = around(unit.end); section != kNone<UnitId> && map.unit(section).cause == UINT32_MAX)
    unit.end = std::max(unit.end, map.unit(section).end);
  unit.cause = static_cast<uint32_t>(map.causes.size());
  boost::unordered_flat_set<uint32_t> variables;
  for (EventIndex event : causal.accesses) {
    map.by_event[raw(event)] = id;
    variables.insert(trace.event(event).object);
  }
  map.units.push_back(unit);
  const std::vector<uint32_t>& mine = by_thread[raw(unit.thread)];
  auto at = std::lower_bound(mine.begin(), mine.end(), static_cast<uint32_t>(raw(unit.begin)));
  for (size_t n = 0; at != mine.end() && *at < raw(unit.end) && n < kLongest; ++at, ++n) {
    UnitId& unit_of = map.by_event[*at];
    const bool free = unit_of == kNone<UnitId> || map.unit(unit_of).cause == UINT32_MAX;
    if (free && variables.contains(trace.events()[*at].object)) unit_of = id;
  }
  map.causes.push_back({rule_info(causal.rule).id, causal.first, causal.second, causal.by_data});
}

}  // namespace

UnitMap find_units(const RecordedTrace& recorded, const UnitSources& sources, SetMap& sets) {
  const Trace& trace = recorded.trace;
  if (!sources.options.causal || sources.flow == nullptr) return map_units(trace, sources.options, sets);
  UnitOptions others = sources.options;
  others.causal = false;
  others.locks = true;
  UnitMap map = map_units(trace, others, sets);
  for (Unit& unit : map.units) unit.context_only = unit.lock != kNone<SyncId> && !sources.options.locks;
  std::vector<std::vector<uint32_t>> by_thread(trace.threads().size());
  for (size_t e = 0; e < trace.size(); ++e) {
    const Event& event = trace.events()[e];
    if (is_access(event.kind)) by_thread[raw(event.thread)].push_back(static_cast<uint32_t>(e));
  }
  for (const CausalUnit& unit : causal_units(recorded, *sources.flow, sets, sources.switches))
    overlay(recorded, unit, by_thread, map);
  const Sharing sharing(trace, sets);
  map.groups.resize(trace.variable_count());
  for (size_t v = 0; v < map.groups.size(); ++v)
    map.groups[v] = raw(sharing.group(VariableId{static_cast<uint32_t>(v)}));
  return map;
}

}  // namespace cleave::units
