#include "prove/judged_run.h"

#include <algorithm>

#include "analysis/predict/findings.h"
#include "order/lock_states.h"
#include "trace/load.h"

namespace cleave::prove {

check::SiteTriple sites_of(const Trace& trace, const prediction::Triple& triple) {
  auto site = [&trace](prediction::EventNumber e) {
    SiteId id = trace.events()[e].site;
    return id == kNone<SiteId> ? SiteInfo{} : trace.site(id);
  };
  return {site(triple.first), site(triple.remote), site(triple.second), "", ""};
}

std::vector<check::UnitSpan> spans_of(const Trace& trace, const UnitMap& units) {
  std::vector<EventIndex> last(trace.threads().size(), EventIndex{0});
  for (size_t e = 0; e < trace.size(); ++e) last[raw(trace.events()[e].thread)] = EventIndex{e};
  std::vector<check::UnitSpan> spans;
  for (const Unit& unit : units.units) {
    EventIndex end = unit.end == kNone<EventIndex> ? last[raw(unit.thread)] : unit.end;
    spans.push_back({unit.thread, unit.begin, end, unit.name});
  }
  std::sort(spans.begin(), spans.end(), [](const check::UnitSpan& a, const check::UnitSpan& b) {
    return std::pair(raw(a.first), ~raw(a.last)) < std::pair(raw(b.first), ~raw(b.last));
  });
  // Lock sections may overlap: of two, the later one then begins where the earlier ends.
  std::vector<std::vector<EventIndex>> open(trace.threads().size());
  std::vector<check::UnitSpan> result;
  for (check::UnitSpan span : spans) {
    std::vector<EventIndex>& ends = open[raw(span.thread)];
    while (!ends.empty() && raw(ends.back()) < raw(span.first)) ends.pop_back();
    if (!ends.empty() && raw(ends.back()) < raw(span.last)) continue;
    ends.push_back(span.last);
    result.push_back(span);
  }
  return result;
}

Result<JudgedRun> judge_run(const std::string& path, const check::SiteTriple& sites, const ProveOptions& options) {
  Result<Trace> loaded = load_trace(path);
  if (!loaded) return loaded.error();
  const Trace& trace = loaded.value();
  SetMap sets(options.sets, trace);
  UnitMap units = map_units(trace, options.units, sets);
  std::vector<check::UnitSpan> spans = spans_of(trace, units);
  JudgedRun run;
  std::optional<check::EventTriple> triple = check::find_triple(trace, spans, sites);
  if (!triple) return run;
  run.there = true;
  check::Judge judge(trace, spans, {.final_writes = options.final_writes});
  run.proof = judge.judge(*triple);
  order::ThreadPositions positions(trace);
  order::LockStates locks(trace, positions);
  auto access = [&](EventIndex event, Role role) {
    return prediction::access_report(trace, static_cast<prediction::EventNumber>(raw(event)), role, &locks);
  };
  run.accesses = {access(triple->first, Role::First), access(triple->remote, Role::Remote),
                  access(triple->second, Role::Second)};
  return run;
}

}  // namespace cleave::prove
