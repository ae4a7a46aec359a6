#include "feasibility/stage/symbolic_stage.h"

#include <malloc.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>

#include "feasibility/lift/predicted_run.h"
#include "feasibility/lift/walk.h"
#include "feasibility/solve/feasibility.h"
#include "judge/judge.h"

namespace cleave::feasibility {
namespace {

using prediction::Candidate;
using prediction::Prediction;
using prediction::Triple;

// So few event triples that all are decided, and counted as the paper counts them.
constexpr size_t kFewQuestions = 128;

// Of each candidate so many event triples are asked before all that are left are looked at together, if they
// are many.
constexpr size_t kFirstFew = 4, kManyQuestions = 16;
constexpr size_t kFewEnough = 300;
constexpr size_t kGuessed = 8, kGuessedOfMany = 64;  // of each candidate, before anything else

constexpr int kKeptBytes = 1 << 30;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// What the recorded process said of itself: its binary, and the files mapped into it.
std::vector<std::string> files_of(const TraceFile& file) {
  std::vector<std::string> files;
  for (std::string_view text : {file.text(CLEAVE_CHUNK_PROCESS), file.last_text(CLEAVE_CHUNK_PROCESS)}) {
    auto process = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!process.is_object()) continue;
    if (files.empty()) files.push_back(process.value("program", ""));
    for (const auto& mapped : process.value("mapped", nlohmann::json::array())) {
      std::string path = mapped.is_object() ? mapped.value("file", "") : "";
      if (path.starts_with('/') && std::find(files.begin(), files.end(), path) == files.end())
        files.push_back(path);
    }
  }
  return files;
}

Result<SymbolicTrace> lift(const RecordedTrace& recorded, const SymbolicStageOptions& options,
                           WalkReport* walk) {
  if (!recorded.origins.empty()) {
    std::vector<std::string> files = files_of(*recorded.file);
    if (!options.program.empty()) files.insert(files.begin(), options.program);
    return walk_recorded_paths(recorded, files, walk);
  }
  // Without any expression every read would have to keep its value: then unsatisfiable proves nothing.
  const Trace& trace = recorded.trace;
  bool data = false;
  for (size_t e = 0; e < trace.size() && !data; ++e) data = trace.symbolic(EventIndex{e}) != nullptr;
  if (!data) return Error{"", "the trace does not say what the program does with its values"};
  return lift_annotations(trace);
}

void note_walk(const WalkReport& walk, StageReport* stage, std::vector<std::string>* remarks) {
  if (walk.threads == 0) return;
  stage->counts["branches"] = walk.branches;
  stage->counts["branches symbolic"] = walk.branches_symbolic;
  stage->counts["branches concretized"] = walk.branches_concretized;
  stage->counts["shared stores"] = walk.shared_writes;
  stage->counts["shared stores symbolic"] = walk.shared_writes_symbolic;
  stage->counts["shared stores concretized"] = walk.shared_writes_concretized;
  stage->counts["values compared"] = walk.values_compared;
  stage->counts["values that differ"] = walk.mismatches;
  stage->counts["concretized"] = walk.concretized;
  stage->counts["pins"] = walk.pins;
  for (const auto& [instruction, count] : walk.pins_at) stage->counts["pins at " + instruction] = count;
  remarks->insert(remarks->end(), walk.remarks.begin(), walk.remarks.end());
}

// Asks about what is unsatisfiable again, without definition 2's guards, for the sake of a run. Only one
// event triple a candidate: this is a reason to try, not an answer.
class EqualValues {
 public:
  EqualValues(SymbolicTrace& trace, FeasibilityOptions options) : trace_(trace), options_(options) {
    options_.same_value_is_violation = true;
  }

  bool ask(Candidate* candidate) {
    if (!checker_) checker_.emplace(trace_, options_);
    const Triple triple = candidate->triple();
    Feasibility got = checker_->decide(
        {EventIndex{triple.first}, EventIndex{triple.remote}, EventIndex{triple.second}, candidate->pattern});
    if (got.answer != Answer::Feasible) return false;
    candidate->only_equal_values = true;
    for (EventIndex event : got.order)
      candidate->symbolic_order.push_back(static_cast<prediction::EventNumber>(raw(event)));
    candidate->inputs = std::move(got.inputs);
    return true;
  }

 private:
  SymbolicTrace& trace_;
  FeasibilityOptions options_;
  std::optional<FeasibilityChecker> checker_;
};

class Stage {
 public:
  Stage(SymbolicTrace& symbolic, const SymbolicStageOptions& options, double start)
      : symbolic_(symbolic),
        options_(options),
        checker_(symbolic, solver_options(options, start)),
        equal_values_(symbolic, solver_options(options, start)) {}

  void run(Prediction* prediction, StageReport* report) {
    // What needs the shortest prefix of the run is the cheapest: it comes first, and time runs out on the
    // others.
    std::vector<Candidate*> candidates;
    size_t questions = 0;
    uint64_t equal = 0;
    first_ = prediction->candidates.data();
    for (Candidate& candidate : prediction->candidates) {
      if (candidate.reached != prediction::Reached::Locks) continue;
      candidates.push_back(&candidate);
      questions += candidate.representatives.size();
    }
    if (options_.progress != nullptr) options_.progress->begin("event triples decided", questions);
    every_triple_ = options_.every_triple || questions <= kFewQuestions;
    auto last = [](const Candidate* c) { return std::max(c->triple().remote, c->triple().second); };
    std::sort(candidates.begin(), candidates.end(),
              [&](auto* a, auto* b) { return last(a) != last(b) ? last(a) < last(b) : a < b; });
    std::vector<Open> open;
    for (Candidate* candidate : candidates)
      open.push_back({candidate, std::vector<Asked>(candidate->representatives.size()), ""});
    // Of many questions the easy ones are answered first: one hard triple does not keep another from being
    // found. What is left after the first few of each candidate is many questions on one trace: they share
    // one look at it. That look costs seconds, so a few hundred questions are all asked once before.
    propagate(open);
    for (Open& one : open)
      decide(one, Effort::Guess, questions <= kFewEnough ? kGuessed : kGuessedOfMany, report);
    for (Open& one : open)
      decide(one, Effort::Little, questions <= kFewEnough ? SIZE_MAX : kFirstFew, report);
    survey(open);
    for (Effort effort : {Effort::Little, Effort::Some, Effort::All}) {
      for (Open& one : open) decide(one, effort, SIZE_MAX, report);
    }
    for (Open& one : open) {
      conclude(one);
      Candidate* candidate = one.candidate;
      tell(*candidate);
      if (candidate->symbolic == "unsat" && options_.equal_values && equal_values_.ask(candidate)) {
        ++equal;
        tell(*candidate);
      }
      report->sites += candidate->symbolic == "sat";
      report->counts["unsat"] += candidate->symbolic == "unsat";
      report->counts["unknown"] += candidate->symbolic.starts_with("unknown");
    }
    if (refused_ != 0) report->counts["models refused"] = refused_;
    if (equal != 0) report->counts["unsat for equal values alone"] = equal;
  }

 private:
  static FeasibilityOptions solver_options(const SymbolicStageOptions& options, double start) {
    FeasibilityOptions solver;
    if (options.model == "cam") solver.model = DataModel::Ignored;
    if (options.model == "mcm") solver.model = DataModel::Recorded;
    solver.seconds_left = [start, seconds = options.seconds] { return seconds - (now() - start); };
    return solver;
  }

  enum class Asked : uint8_t { Undecided, Sat, Unsat };
  // A candidate under decision: its event triples by number, and why the first that is undecided is.
  struct Open {
    Candidate* candidate;
    std::vector<Asked> answers;
    std::string why;
  };

  static FeasibilityQuery query_of(const Candidate& candidate, const Triple& triple) {
    return {EventIndex{triple.first}, EventIndex{triple.remote}, EventIndex{triple.second},
            candidate.pattern};
  }

  std::vector<FeasibilityQuery> undecided(const std::vector<Open>& open) const {
    std::vector<FeasibilityQuery> queries;
    for (const Open& one : open) {
      if (one.candidate->symbolic == "sat" && !every_triple_) continue;
      for (size_t i = 0; i < one.answers.size(); ++i) {
        if (one.answers[i] == Asked::Undecided)
          queries.push_back(query_of(*one.candidate, one.candidate->representatives[i]));
      }
    }
    return queries;
  }

  // What follows from the run alone rules out most of many triples: all of them are looked at before one is
  // asked.
  void propagate(std::vector<Open>& open) {
    if (options_.model != "ctp") return;
    try {
      checker_.propagate(undecided(open));
    } catch (const std::bad_alloc&) {
      return;  // each question is asked without it then
    }
    for (Open& one : open) {
      for (size_t i = 0; i < one.answers.size(); ++i) {
        if (checker_.excluded(query_of(*one.candidate, one.candidate->representatives[i])))
          answer(one, i, Asked::Unsat);
      }
    }
  }

  void survey(const std::vector<Open>& open) {
    if (options_.model != "ctp") return;
    std::vector<FeasibilityQuery> queries = undecided(open);
    if (queries.size() < kManyQuestions) return;
    try {
      checker_.survey(queries);
    } catch (const std::bad_alloc&) {
      // Nothing is ruled out at once then; each question is asked by itself.
    }
  }

  void decide(Open& one, Effort effort, size_t most, StageReport* report) {
    Candidate& candidate = *one.candidate;
    one.why.clear();
    for (size_t i = 0; i < std::min(most, candidate.representatives.size()); ++i) {
      if (candidate.symbolic == "sat" && !every_triple_) return;
      if (one.answers[i] != Asked::Undecided) continue;
      Feasibility got = checker_.decide(query_of(candidate, candidate.representatives[i]), effort);
      if (got.answer == Answer::Feasible && candidate.symbolic != "sat") refuse_if_wrong(&got);
      if (got.answer == Answer::Infeasible) answer(one, i, Asked::Unsat);
      if (got.answer == Answer::Feasible) {
        answer(one, i, Asked::Sat);
        ++report->triples;
        if (candidate.symbolic == "sat") continue;
        candidate.symbolic = "sat";
        for (EventIndex event : got.order)
          candidate.symbolic_order.push_back(static_cast<prediction::EventNumber>(raw(event)));
        candidate.inputs = std::move(got.inputs);
        std::swap(candidate.representatives[0], candidate.representatives[i]);
        std::swap(one.answers[0], one.answers[i]);
        tell(candidate);
      } else if (got.answer == Answer::Unknown) {
        if (one.why.empty()) one.why = got.why;
        if (got.why.starts_with("time")) return;
      }
    }
  }

  void answer(Open& one, size_t triple, Asked answer) {
    one.answers[triple] = answer;
    if (options_.progress != nullptr) options_.progress->more();
    if (answer == Asked::Unsat && decided(one)) {
      conclude(one);
      tell(*one.candidate);
    }
  }

  void tell(const Candidate& candidate) const {
    if (options_.decided) options_.decided(static_cast<size_t>(&candidate - first_));
  }

  static bool decided(const Open& one) {
    return std::none_of(one.answers.begin(), one.answers.end(),
                        [](Asked a) { return a == Asked::Undecided; });
  }

  static void conclude(Open& one) {
    Candidate& candidate = *one.candidate;
    if (!candidate.symbolic.empty()) return;
    if (!decided(one)) {
      candidate.symbolic = "unknown: " + one.why;
    } else if (candidate.triples > candidate.representatives.size()) {
      candidate.symbolic = "unknown: not every triple at these places was looked at";
    } else {
      candidate.symbolic = "unsat";
    }
  }

  // A model is believed only when an independent replay of it works. Where data is ignored there is nothing
  // to replay.
  void refuse_if_wrong(Feasibility* got) {
    if (options_.model == "cam") return;
    Status good = Done{};
    try {
      Result<Trace> predicted = predicted_run(symbolic_, got->order, got->inputs);
      good = predicted.ok() ? judge::consistent(predicted.value()) : Status(predicted.error());
    } catch (const std::bad_alloc&) {
      got->answer = Answer::Unknown;
      got->why = "memory: there is none left";
      return;
    }
    if (good) return;
    ++refused_;
    got->answer = Answer::Unknown;
    got->why = "a defect of the model: " + good.error().sentence();
  }

  SymbolicTrace& symbolic_;
  const SymbolicStageOptions& options_;
  FeasibilityChecker checker_;
  EqualValues equal_values_;
  const Candidate* first_ = nullptr;  // of the prediction
  bool every_triple_ = false;
  uint64_t refused_ = 0;
};

}  // namespace

Status decide_symbolically(const RecordedTrace& recorded, const SymbolicStageOptions& options,
                           Prediction* prediction) {
  double start = now();
  const bool any = std::any_of(prediction->candidates.begin(), prediction->candidates.end(),
                               [](const Candidate& c) { return c.reached == prediction::Reached::Locks; });
  if (!any) {  // nothing to ask: nothing is read, walked or solved
    StageReport report;
    report.name = "symbolic";
    report.counts["unsat"] = report.counts["unknown"] = 0;
    prediction->stages.push_back(std::move(report));
    return Done{};
  }
  // Every question takes and gives back tens of megabytes: kept, they need not be fetched from the system
  // each time.
  mallopt(M_TRIM_THRESHOLD, kKeptBytes);
  mallopt(M_MMAP_THRESHOLD, kKeptBytes);
  // Questions that run out of memory are `unknown` by themselves; this is for what all of them stand on.
  try {
    if (options.progress != nullptr) options.progress->begin("walking the paths of the program's threads");
    WalkReport walk;
    Result<SymbolicTrace> symbolic = lift(recorded, options, &walk);
    if (!symbolic) return symbolic.error();
    StageReport report;
    report.name = "symbolic";
    report.counts["unsat"] = report.counts["unknown"] = 0;
    note_walk(walk, &report, &prediction->remarks);
    Stage(symbolic.value(), options, start).run(prediction, &report);
    report.seconds = now() - start;
    prediction->stages.push_back(std::move(report));
  } catch (const std::bad_alloc&) {
    return Error{
        "", "there is not enough memory for a run of " + std::to_string(recorded.trace.size()) + " events"};
  }
  return Done{};
}

}  // namespace cleave::feasibility
