#include "analysis/predict/findings.h"

#include <fmt/format.h>

#include "findings/place.h"
#include "trace/core/library.h"

namespace cleave::prediction {
namespace {

// The value in the predicted order; an update is left as it was unless nothing is known of it.
void show_value(AccessReport& access, std::optional<uint64_t> value) {
  if (!value) {
    access.value = "?";
  } else if (access.op != word_of(EventKind::Update) && access.op != kFreeOperation) {
    put_operation(access, access.op == word_of(EventKind::Write) ? EventKind::Write : EventKind::Read,
                  *value);
  }
}

std::string mark_word(Mark mark) {
  if (mark == Mark::ByValue) return "by value";
  return mark == Mark::Kept ? "kept" : "dropped";
}

// What stands for the function in an id where there is none: the thread, in text traces without sites.
std::string function_of(const AccessReport& access) {
  return access.function.empty() ? access.thread : access.function;
}

// What the place of the access calls the location, which is the same in every run; the library's own words
// for it (a field of a tree's header) tell nobody anything, there the name of the location itself is better.
std::string name_of(const Trace& trace, const Event& access) {
  const SiteInfo* site = access.site == kNone<SiteId> ? nullptr : &trace.site(access.site);
  bool said = site != nullptr && !site->variable.empty() && !is_library_type(site->variable);
  return said ? site->variable : trace.variable(access.variable()).name;
}

}  // namespace

AccessReport access_report(const Trace& trace, EventNumber e, Role role, const order::LockStates* locks) {
  const Event& event = trace.events()[e];
  AccessReport report;
  report.role = role;
  report.thread = trace.thread(event.thread).name;
  put_operation(report, event.kind, event.value,
                event.kind == EventKind::Update ? trace.old_value(EventIndex{e}) : 0);
  put_place(report, trace, event.site, event.context);
  if (locks) {
    for (const order::HeldLock& held : locks->held(locks->at(e))) {
      report.locks.push_back(trace.sync(SyncId{held.use.lock}).name + (held.use.shared ? " (shared)" : ""));
    }
  }
  return report;
}

Finding to_finding(const TraceIndex& facts, const Candidate& candidate, SetMap& sets) {
  const Trace& trace = facts.trace;
  const Triple& triple = candidate.triple();
  const Event& first = facts.event(triple.first);
  Finding finding;
  finding.kind = FindingKind::Triple;
  finding.pattern = candidate.pattern;
  finding.verdict = candidate.verdict();
  finding.variable = name_of(trace, first);
  finding.set = sets.info(sets.set_of(first.variable())).name;
  if (UnitId unit = facts.units.by_event[triple.first]; unit != kNone<UnitId>) {
    finding.unit = unit_label(trace, facts.units.unit(unit), facts.units.lock_functions);
    finding.cause = cause_of(trace, facts.units, facts.units.unit(unit));
  }
  finding.occurrences = candidate.triples;
  const order::LockStates* locks = facts.locks ? &*facts.locks : nullptr;
  finding.accesses = {access_report(trace, triple.first, Role::First, locks),
                      access_report(trace, triple.remote, Role::Remote, locks),
                      access_report(trace, triple.second, Role::Second, locks)};
  if (candidate.reordering && candidate.reordering->triple == triple) {
    for (size_t a = 0; a < 3; ++a) show_value(finding.accesses[a], candidate.reordering->values[a]);
  }
  finding.id = candidate.id;
  if (finding.id.empty()) {
    finding.id = finding_id(FindingKind::Triple, finding.pattern, finding.variable,
                            {function_of(finding.accesses[0]), function_of(finding.accesses[1]),
                             function_of(finding.accesses[2]), finding.unit});
  }
  if (facts.must) finding.stages["order"] = candidate.reached == Reached::Patterns ? "dropped" : "kept";
  if (locks && candidate.reached != Reached::Patterns) {
    finding.stages["locks"] = candidate.reached == Reached::Order ? "dropped" : "kept";
  }
  if (candidate.filter != Mark::NotAsked) finding.stages["filter"] = mark_word(candidate.filter);
  if (candidate.exact != Mark::NotAsked) finding.stages["exact"] = mark_word(candidate.exact);
  if (!candidate.symbolic.empty()) finding.stages["symbolic"] = candidate.symbolic;
  return finding;
}

void assign_ids(const TraceIndex& facts, Prediction& prediction, SetMap& sets) {
  std::vector<Finding> all;
  for (Candidate& candidate : prediction.candidates) {
    candidate.id.clear();
    all.push_back(to_finding(facts, candidate, sets));
  }
  separate_ids(all);
  for (size_t i = 0; i < all.size(); ++i) prediction.candidates[i].id = std::move(all[i].id);
}

Findings to_findings(const TraceIndex& facts, const Prediction& prediction, SetMap& sets, bool dropped) {
  Findings findings;
  findings.command = "predict";
  findings.program = facts.trace.program();
  findings.stages = prediction.stages;
  for (size_t i = 0; i < prediction.remarks.size(); ++i) {
    findings.facts[prediction.remarks.size() == 1 ? "remark" : fmt::format("remark {}", i + 1)] =
        prediction.remarks[i];
  }
  for (const Candidate& candidate : prediction.candidates) {
    if (dropped || candidate.verdict() != Verdict::Infeasible) {
      findings.findings.push_back(to_finding(facts, candidate, sets));
    }
  }
  return findings;
}

}  // namespace cleave::prediction
