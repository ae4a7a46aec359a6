#include "confirm/judged_run.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "analysis/predict/findings.h"
#include "order/lock_states.h"
#include "trace/core/load.h"
#include "trace/recorded/reader.h"
#include "units/find.h"

namespace cleave::confirm {

judge::SiteTriple sites_of(const Trace& trace, const prediction::Triple& triple) {
  auto site = [&trace](prediction::EventNumber e) {
    SiteId id = trace.events()[e].site;
    return id == kNone<SiteId> ? SiteInfo{} : trace.site(id);
  };
  return {site(triple.first), site(triple.remote), site(triple.second), "", ""};
}

namespace {

// As check/ takes them; the end of one that does not end is that of its thread.
std::vector<judge::UnitSpan> disjoint_or_nested(const Trace& trace,
                                                const std::vector<judge::UnitSpan>& units) {
  std::vector<EventIndex> last(trace.threads().size(), EventIndex{0});
  for (size_t e = 0; e < trace.size(); ++e) last[raw(trace.events()[e].thread)] = EventIndex{e};
  auto before = [](const judge::UnitSpan& a, const judge::UnitSpan& b) {
    return std::tuple(raw(a.first), ~raw(a.last), raw(a.thread)) <
           std::tuple(raw(b.first), ~raw(b.last), raw(b.thread));
  };
  std::multiset<judge::UnitSpan, decltype(before)> spans(before);
  for (judge::UnitSpan unit : units) {
    if (unit.last == kNone<EventIndex>) unit.last = last[raw(unit.thread)];
    spans.insert(unit);
  }
  // Lock sections may overlap: of two, the one that began first goes before, and the other begins where that
  // one ends.
  std::vector<std::vector<EventIndex>> open(trace.threads().size());
  std::vector<judge::UnitSpan> result;
  while (!spans.empty()) {
    judge::UnitSpan span = *spans.begin();
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

}  // namespace

std::vector<judge::UnitSpan> spans_of(const Trace& trace, const UnitMap& units) {
  std::vector<judge::UnitSpan> spans;
  for (const Unit& unit : units.units) spans.push_back({unit.thread, unit.begin, unit.end, unit.name});
  return disjoint_or_nested(trace, spans);
}

std::vector<judge::UnitSpan> spans_of(const Trace& trace, const UnitMap& units, SetMap& sets, SetId set) {
  std::vector<bool> takes(units.units.size(), false);
  for (size_t e = 0; e < trace.size(); ++e) {
    if (UnitId unit = units.by_event[e]; unit != kNone<UnitId> && !takes[raw(unit)])
      takes[raw(unit)] = sets.set_of(trace.events()[e].variable()) == set;
  }
  std::vector<judge::UnitSpan> spans;
  for (size_t u = 0; u < units.units.size(); ++u) {
    const Unit& unit = units.units[u];
    if (takes[u]) spans.push_back({unit.thread, unit.begin, unit.end, unit.name});
  }
  return disjoint_or_nested(trace, spans);
}

judge::Proof PerSetJudge::judge(const judge::EventTriple& triple) {
  const SetId set = sets_.set_of(trace_.event(triple.first).variable());
  auto known = judges_.find(set);
  if (known == judges_.end()) {
    known = judges_
                .try_emplace(set, trace_, spans_of(trace_, units_, sets_, set),
                             judge::JudgeOptions{.final_writes = final_writes_})
                .first;
  }
  return known->second.judge(triple);
}

namespace {

// More occurrences than these are not looked at, and not judged.
constexpr size_t kLookedAt = 256, kOccurrences = 16;

// What is worth most to a person: proved by this triple itself, proved, undecided, atomic.
int worth(const judge::Proof& proof) {
  switch (proof.judgement) {
    case judge::Judgement::NonAtomic:
      return proof.name == "exact-trace" ? 2 : 3;
    case judge::Judgement::Undecided:
      return 1;
    case judge::Judgement::Atomic:
      return 0;
  }
  return 0;
}

// Where the sites form a triple of that pattern whose first and second access one unit takes.
std::vector<judge::EventTriple> occurrences(const Trace& trace, const UnitMap& units,
                                            const judge::SiteTriple& sites, Pattern pattern) {
  std::vector<judge::EventTriple> found =
      judge::find_triples(trace, spans_of(trace, units), sites, kLookedAt);
  std::erase_if(found, [&](const judge::EventTriple& triple) {
    auto kind = [&trace](EventIndex event) { return trace.event(event).kind; };
    UnitId unit = units.unit_of(triple.first);
    return unit == kNone<UnitId> || unit != units.unit_of(triple.second) ||
           judge::pattern_of(kind(triple.first), kind(triple.remote), kind(triple.second)) != pattern;
  });
  if (found.size() > kOccurrences) found.resize(kOccurrences);
  return found;
}

// With its records, if it has any.
Result<RecordedTrace> load(const std::string& path) {
  if (form_of_file(path) == TraceForm::Binary) return load_recorded_trace(path);
  Result<Trace> text = load_trace(path);
  if (!text) return text.error();
  RecordedTrace recorded;
  recorded.trace = std::move(text).value();
  return recorded;
}

}  // namespace

Result<JudgedRun> judge_run(const std::string& path, const judge::SiteTriple& sites, Pattern pattern,
                            const ProveOptions& options) {
  Result<RecordedTrace> loaded = load(path);
  if (!loaded) return loaded.error();
  const Trace& trace = loaded.value().trace;
  SetMap sets(options.sets, trace);
  UnitMap units = units::find_units(loaded.value(), options.units, sets);
  const std::vector<judge::EventTriple> triples = occurrences(trace, units, sites, pattern);
  JudgedRun run;
  if (triples.empty()) return run;
  run.there = true;
  PerSetJudge judge(trace, units, sets, options.final_writes);
  const judge::EventTriple* triple = nullptr;
  for (const judge::EventTriple& occurrence : triples) {
    judge::Proof proof = judge.judge(occurrence);
    if (triple && worth(proof) <= worth(run.proof)) continue;
    triple = &occurrence;
    run.proof = std::move(proof);
    if (worth(run.proof) == 3) break;
  }
  const UnitId split = units.unit_of(triple->first);
  run.cause = cause_of(trace, units, units.unit(split));
  run.unit = unit_label(trace, units.unit(split), units.lock_functions);
  order::ThreadPositions positions(trace);
  order::LockStates locks(trace, positions);
  auto access = [&](EventIndex event, Role role) {
    return prediction::access_report(trace, static_cast<prediction::EventNumber>(raw(event)), role, &locks);
  };
  run.accesses = {access(triple->first, Role::First), access(triple->remote, Role::Remote),
                  access(triple->second, Role::Second)};
  return run;
}

}  // namespace cleave::confirm
