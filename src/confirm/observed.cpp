#include "confirm/observed.h"

#include "analysis/predict/findings.h"
#include "confirm/judged_run.h"
#include "judge/judge.h"

namespace cleave::confirm {
namespace {

// More occurrences of one candidate than these are not judged.
constexpr size_t kOccurrences = 16;

std::vector<judge::EventTriple> observed_in(const prediction::Candidate& candidate) {
  std::vector<judge::EventTriple> result;
  if (candidate.reached != prediction::Reached::Locks) return result;
  for (const prediction::Triple& t : candidate.representatives) {
    if (!(t.first < t.remote && t.remote < t.second) || result.size() == kOccurrences) continue;
    result.push_back({EventIndex{t.first}, EventIndex{t.remote}, EventIndex{t.second}});
  }
  return result;
}

class ObservedJudge {
 public:
  ObservedJudge(const prediction::TraceIndex& facts, const ProveOptions& options)
      : facts_(facts),
        sets_(options.sets, facts.trace),
        judge_(facts.trace, facts.units, sets_, options.final_writes) {}

  std::optional<Proof> judge(const std::vector<judge::EventTriple>& triples, const Finding& finding) {
    std::optional<Proof> best;
    for (const judge::EventTriple& triple : triples) {
      judge::Proof proof = judge_.judge(triple);
      if (proof.judgement == judge::Judgement::Atomic) continue;
      if (proof.judgement == judge::Judgement::Undecided && best) continue;
      best = told(triple, proof, finding);
      if (best->verdict == Verdict::Confirmed) break;
    }
    return best;
  }

 private:
  Proof told(const judge::EventTriple& triple, const judge::Proof& proof, Finding finding) const {
    auto access = [&](EventIndex event, Role role) {
      return prediction::access_report(facts_.trace, static_cast<prediction::EventNumber>(raw(event)), role,
                                       facts_.locks ? &*facts_.locks : nullptr);
    };
    Proof result;
    result.tried = true;
    result.verdict = proof.judgement == judge::Judgement::NonAtomic ? Verdict::Confirmed : Verdict::Witnessed;
    finding.verdict = result.verdict;
    finding.proof = proof.name;
    finding.why = proof.why;
    finding.note = proof.reason.empty() ? "it happened in the recorded run itself" : proof.reason;
    finding.accesses = {access(triple.first, Role::First), access(triple.remote, Role::Remote),
                        access(triple.second, Role::Second)};
    result.finding = std::move(finding);
    return result;
  }

  const prediction::TraceIndex& facts_;
  SetMap sets_;
  PerSetJudge judge_;
};

}  // namespace

std::vector<std::optional<Proof>> judge_observed(const prediction::TraceIndex& facts,
                                                 const std::vector<const prediction::Candidate*>& candidates,
                                                 const std::vector<Finding>& findings,
                                                 const ProveOptions& options) {
  ObservedJudge judge(facts, options);
  std::vector<std::optional<Proof>> result(candidates.size());
  if (!options.order_is_real) return result;
  for (size_t c = 0; c < candidates.size(); ++c) {
    std::vector<judge::EventTriple> triples = observed_in(*candidates[c]);
    if (!triples.empty()) result[c] = judge.judge(triples, findings[c]);
  }
  return result;
}

}  // namespace cleave::confirm
