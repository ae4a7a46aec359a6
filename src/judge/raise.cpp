#include "judge/raise.h"

#include <fmt/format.h>

#include <algorithm>

namespace cleave::judge {
namespace {

constexpr size_t kOccurrences = 16;

SiteInfo site_of(const AccessReport& access) {
  return {.file = access.file, .line = access.line, .function = access.function};
}

void fill_in(const Trace& execution, EventIndex index, AccessReport& access) {
  const Event& event = execution.event(index);
  access.thread = execution.thread(event.thread).name;
  access.op = word_of(event.kind);
  access.value = event.kind == EventKind::Update
                     ? fmt::format("{} -> {}", execution.old_value(index), event.value)
                     : fmt::format("{}", event.value);
}

void fill_in(const Trace& execution, const EventTriple& triple, const Proof& proof, Finding& finding) {
  fill_in(execution, triple.first, finding.accesses[0]);
  fill_in(execution, triple.remote, finding.accesses[1]);
  fill_in(execution, triple.second, finding.accesses[2]);
  if (proof.pattern != Pattern::None) finding.pattern = proof.pattern;
}

}  // namespace

std::vector<UnitSpan> spans_of(const Trace& trace, std::span<const Unit> units) {
  std::vector<UnitSpan> spans;
  spans.reserve(units.size());
  for (const Unit& unit : units) {
    if (trace.size() == 0) break;
    const EventIndex last = unit.end == kNone<EventIndex> ? id_of<EventIndex>(trace.size() - 1) : unit.end;
    spans.push_back({unit.thread, unit.begin, last, unit.name});
  }
  std::sort(spans.begin(), spans.end(), [](const UnitSpan& a, const UnitSpan& b) {
    return a.first != b.first ? a.first < b.first : a.last > b.last;
  });
  return spans;
}

Raised raise_verdict(const Trace& execution, std::span<const UnitSpan> units, const JudgeOptions& options,
                     Finding& finding) {
  if (finding.kind != FindingKind::Triple || finding.accesses.size() != 3) return Raised::NotThere;
  const SiteTriple sites{.first = site_of(finding.accesses[0]),
                         .remote = site_of(finding.accesses[1]),
                         .second = site_of(finding.accesses[2])};
  const std::vector<EventTriple> triples = find_triples(execution, units, sites, kOccurrences);
  if (triples.empty()) return Raised::NotThere;
  Judge judge(execution, {units.begin(), units.end()}, options);
  // An occurrence that is to blame itself is worth more than one in an execution that is non-atomic anyway.
  std::optional<std::pair<EventTriple, Proof>> proved, undecided;
  for (const EventTriple& triple : triples) {
    const Proof proof = judge.judge(triple);
    const bool own = proof.name != "exact-trace";
    if (proof.judgement == Judgement::NonAtomic && (!proved || own)) proved = {triple, proof};
    if (proof.judgement == Judgement::Undecided && !undecided) undecided = {triple, proof};
    if (proof.judgement == Judgement::NonAtomic && own) break;
  }
  if (proved) {
    fill_in(execution, proved->first, proved->second, finding);
    finding.verdict = Verdict::Confirmed;
    finding.proof = proved->second.name;
    finding.why = proved->second.why;
    return Raised::Confirmed;
  }
  if (!undecided) return Raised::AtomicAfterAll;
  if (finding.verdict < Verdict::Witnessed) {
    const Proof& open = undecided->second;
    fill_in(execution, undecided->first, open, finding);
    finding.verdict = Verdict::Witnessed;
    finding.note = finding.note.empty() ? open.reason : finding.note + "; " + open.reason;
  }
  return Raised::Witnessed;
}

}  // namespace cleave::judge
