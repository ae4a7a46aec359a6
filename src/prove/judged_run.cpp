#include "prove/judged_run.h"

#include <algorithm>
#include <set>
#include <tuple>

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
  auto before = [](const check::UnitSpan& a, const check::UnitSpan& b) {
    return std::tuple(raw(a.first), ~raw(a.last), raw(a.thread)) < std::tuple(raw(b.first), ~raw(b.last), raw(b.thread));
  };
  std::multiset<check::UnitSpan, decltype(before)> spans(before);
  for (const Unit& unit : units.units) {
    EventIndex end = unit.end == kNone<EventIndex> ? last[raw(unit.thread)] : unit.end;
    spans.insert({unit.thread, unit.begin, end, unit.name});
  }
  // Lock sections may overlap: of two, the one that began first goes before, and the other begins where that one ends.
  std::vector<std::vector<EventIndex>> open(trace.threads().size());
  std::vector<check::UnitSpan> result;
  while (!spans.empty()) {
    check::UnitSpan span = *spans.begin();
    spans.erase(spans.begin());
    std::vector<EventIndex>& ends = open[raw(span.thread)];
    while (!ends.empty() && ends.back() < span.first) ends.pop_back();
    if (!ends.empty() && ends.back() < span.last) {
      span.first = EventIndex{raw(ends.back()) + 1};
      spans.insert(span);
      continue;
    }
    ends.push_back(span.last);
    result.push_back(span);
  }
  return result;
}

namespace {

// More occurrences than these are not judged.
constexpr size_t kOccurrences = 16;

// What is worth most to a person: proved by this triple itself, proved, undecided, atomic.
int worth(const check::Proof& proof) {
  switch (proof.judgement) {
    case check::Judgement::NonAtomic: return proof.name == "exact-trace" ? 2 : 3;
    case check::Judgement::Undecided: return 1;
    case check::Judgement::Atomic: return 0;
  }
  return 0;
}

}  // namespace

Result<JudgedRun> judge_run(const std::string& path, const check::SiteTriple& sites, const ProveOptions& options) {
  Result<Trace> loaded = load_trace(path);
  if (!loaded) return loaded.error();
  const Trace& trace = loaded.value();
  SetMap sets(options.sets, trace);
  UnitMap units = map_units(trace, options.units, sets);
  std::vector<check::UnitSpan> spans = spans_of(trace, units);
  JudgedRun run;
  const std::vector<check::EventTriple> triples = check::find_triples(trace, spans, sites, kOccurrences);
  if (triples.empty()) return run;
  run.there = true;
  check::Judge judge(trace, spans, {.final_writes = options.final_writes});
  const check::EventTriple* triple = nullptr;
  for (const check::EventTriple& occurrence : triples) {
    check::Proof proof = judge.judge(occurrence);
    if (triple && worth(proof) <= worth(run.proof)) continue;
    triple = &occurrence;
    run.proof = std::move(proof);
    if (worth(run.proof) == 3) break;
  }
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
