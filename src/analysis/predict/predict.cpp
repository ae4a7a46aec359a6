#include "analysis/predict/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/predict/filter.h"
#include "analysis/predict/replay.h"
#include "base/interrupt.h"

namespace cleave::prediction {
namespace {

constexpr size_t kShortTrace = 100'000, kManyRepresentatives = 256;
// Where the trace is so short, all triples of any candidate are kept as a rule: then even infeasible can be
// proved.
constexpr size_t kShortestTrace = 4'000, kMostRepresentatives = 4'096;
// So few event triples that all of them are listed and looked at.
constexpr uint64_t kFewTriples = 2048;

class Pipeline {
 public:
  Pipeline(TraceIndex& facts, const PredictOptions& options) : facts_(facts), options_(options) {}

  Prediction run() {
    sweep();
    if (options_.filter) filter();
    if (options_.exact) exact();
    std::sort(result_.candidates.begin(), result_.candidates.end(),
              [](const Candidate& a, const Candidate& b) { return a.triple() < b.triple(); });
    return std::move(result_);
  }

 private:
  double now() const { return options_.now ? options_.now() : 0; }

  template <typename Value, typename... Arguments>
  double build(std::optional<Value>& value, const Arguments&... arguments) {
    double start = now();
    if (!value) value.emplace(facts_.trace, facts_.positions, arguments...);
    return now() - start;
  }

  void sweep() {
    double order_seconds = 0, locks_seconds = 0;
    if (options_.order) order_seconds = build(facts_.must, facts_.syncs);
    if (options_.locks) locks_seconds = build(facts_.locks);
    double start = now();
    SurveyOptions survey_options;
    survey_options.order = options_.order;
    survey_options.locks = options_.locks;
    survey_options.representatives = options_.representatives;
    if (options_.adapt && facts_.trace.size() <= kShortTrace) {
      const size_t many = facts_.trace.size() <= kShortestTrace ? kMostRepresentatives : kManyRepresentatives;
      survey_options.representatives = std::max(options_.representatives, many);
    }
    Survey survey = prediction::survey(facts_, survey_options);
    every_triple_ = options_.adapt && survey.triples[2] <= kFewTriples && survey.cut.empty();
    if (every_triple_ && survey.triples[2] > survey_options.representatives) {
      survey_options.representatives = survey.triples[2];
      survey = prediction::survey(facts_, survey_options);
    }
    report("patterns", survey.triples[0], survey.site_count[0], now() - start);
    if (survey.library_locations > 0)
      result_.stages.back().counts["left out: the library's own atomics"] = survey.library_locations;
    if (options_.order) report("order", survey.triples[1], survey.site_count[1], order_seconds);
    if (options_.locks) report("locks", survey.triples[2], survey.site_count[2], locks_seconds);
    for (VariableId variable : survey.cut) {
      result_.remarks.push_back(fmt::format("{}: too many program locations access it, not all were combined",
                                            facts_.trace.variable(variable).name));
    }
    for (SiteTriple& site : survey.sites) {
      Candidate candidate;
      candidate.pattern = site.pattern;
      candidate.reached = site.reached;
      candidate.triples = site.triples[static_cast<size_t>(site.reached)];
      candidate.representatives = std::move(site.representatives);
      result_.candidates.push_back(std::move(candidate));
    }
  }

  StageReport& report(const char* name, uint64_t triples, uint64_t sites, double seconds) {
    StageReport stage;
    stage.name = name;
    stage.triples = triples;
    stage.sites = sites;
    stage.seconds = seconds;
    return result_.stages.emplace_back(std::move(stage));
  }

  void filter() {
    double start = now();
    build(facts_.observed, facts_.syncs);
    Filter filter(facts_);
    uint64_t kept = 0, sites = 0;
    for (Candidate& candidate : result_.candidates) {
      if (candidate.reached != Reached::Locks) continue;
      if (interrupted()) break;
      std::vector<Triple> survivors, others;
      for (const Triple& triple : candidate.representatives) {
        (filter.keeps(triple) ? survivors : others).push_back(triple);
      }
      kept += survivors.size();
      candidate.filter = survivors.empty() ? Mark::Dropped : Mark::Kept;
      sites += !survivors.empty();
      survivors.insert(survivors.end(), others.begin(), others.end());
      candidate.representatives = std::move(survivors);
    }
    report("filter", kept, sites, now() - start).counts["looked at"] = looked_at();
  }

  void exact() {
    double start = now();
    build(facts_.observed, facts_.syncs);
    build(facts_.locks);
    build(facts_.must, facts_.syncs);
    Reorderer reorderer(facts_);
    Replayer replayer(facts_.trace);
    uint64_t triples = 0, sites = 0, by_value = 0;
    for (Candidate& candidate : result_.candidates) {
      if (candidate.reached != Reached::Locks) continue;
      if (interrupted()) break;
      triples += reorder(candidate, reorderer, replayer);
      if (!candidate.reordering) {
        candidate.exact = Mark::Dropped;
      } else if (candidate.reordering->keeps_writes) {
        candidate.exact = Mark::Kept;
        ++sites;
      } else {
        candidate.exact = Mark::ByValue;
        ++by_value;
      }
    }
    StageReport& stage = report("exact", triples, sites, now() - start);
    stage.counts["looked at"] = looked_at();
    stage.counts["sites kept by value only"] = by_value;
    if (unchecked_ != 0) {
      result_.remarks.push_back(
          fmt::format("{} reorderings were not replayed from the start, because the budget for that ran out; "
                      "they stay candidates",
                      unchecked_));
    }
  }

  uint64_t looked_at() const {
    uint64_t count = 0;
    for (const Candidate& candidate : result_.candidates) {
      if (candidate.reached == Reached::Locks) count += candidate.representatives.size();
    }
    return count;
  }

  // Gives the candidate the best reordering among its representatives: one that keeps every write, else one
  // by value. How many keep every write; only the first is looked for where not every event triple was
  // listed.
  uint64_t reorder(Candidate& candidate, const Reorderer& reorderer, const Replayer& replayer) {
    uint64_t kept = 0;
    size_t best = 0;
    for (size_t r = 0; r < candidate.representatives.size(); ++r) {
      if (interrupted()) break;
      std::optional<Reordering> found = reorderer.find(candidate.representatives[r]);
      if (!found || (!found->keeps_writes && candidate.reordering)) continue;
      if (!passes(*found, candidate.representatives[r], replayer)) continue;
      kept += found->keeps_writes;
      if (!candidate.reordering || !candidate.reordering->keeps_writes) {
        candidate.reordering = std::move(found);
        best = r;
      }
      if (kept != 0 && !every_triple_) break;
    }
    if (candidate.reordering) {
      std::rotate(candidate.representatives.begin(), candidate.representatives.begin() + best,
                  candidate.representatives.begin() + best + 1);
    }
    return kept;
  }

  // The reordering is run from the very beginning; what that refuses, or what there is no time for, is not
  // kept.
  bool passes(const Reordering& reordering, const Triple& triple, const Replayer& replayer) {
    if (checked_events_ >= options_.check_budget) {
      ++unchecked_;
      return false;
    }
    std::vector<EventNumber> order = reordering.events(facts_);
    checked_events_ += order.size();
    return replayer.problem(order, triple).empty();
  }

  TraceIndex& facts_;
  const PredictOptions& options_;
  Prediction result_;
  bool every_triple_ = false;  // the representatives are all there are
  uint64_t checked_events_ = 0, unchecked_ = 0;
};

}  // namespace

Verdict Candidate::verdict() const {
  if (symbolic == "sat") return Verdict::Feasible;
  // A reordering that was built and replayed outweighs a model that pins addresses to what was recorded.
  if (exact == Mark::Kept || exact == Mark::ByValue) return Verdict::Feasible;
  if (symbolic == "unsat") return Verdict::Infeasible;
  if (reached != Reached::Locks || filter == Mark::Dropped) return Verdict::Infeasible;
  return Verdict::Candidate;
}

Prediction predict(TraceIndex& facts, const PredictOptions& options) {
  return Pipeline(facts, options).run();
}

}  // namespace cleave::prediction
