#include "confirm/confirm.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <set>

#include "base/interrupt.h"
#include "base/temporary.h"
#include "base/workers.h"
#include "confirm/failures.h"
#include "confirm/first_difference.h"
#include "confirm/judged_run.h"
#include "confirm/plans.h"
#include "confirm/visits.h"
#include "exec/run.h"
#include "schedule/plan.h"
#include "schedule/witness.h"
#include "trace/core/load.h"

namespace cleave::confirm {
namespace {

using prediction::Candidate;
using prediction::EventNumber;

// Plans for a candidate that the solver refuted on the recorded path.
constexpr unsigned kRefutedAttempts = 4;

// A run whose trace is so many times as long as the recorded one goes round in circles. Seconds of that are
// gigabytes, and judging them takes longer than any budget.
constexpr uint64_t kTimesRecorded = 16;
constexpr uint64_t kLeastTrace = uint64_t{32} << 20;

class Prover {
 public:
  Prover(const prediction::TraceIndex& facts, const std::vector<const Candidate*>& candidates,
         const std::vector<Finding>& findings, const ProveOptions& options)
      : facts_(facts),
        visits_(visits_of(options, candidates)),
        planner_(facts, visits_ ? &*visits_ : nullptr),
        candidates_(candidates),
        findings_(findings),
        options_(options) {}

  ProveReport run() {
    start_ = options_.now();
    std::error_code unknown;
    uint64_t recorded = std::filesystem::file_size(options_.recorded, unknown);
    trace_limit_ = std::max(kLeastTrace, unknown ? 0 : kTimesRecorded * recorded);
    report_.proofs.resize(candidates_.size());
    progress_.resize(candidates_.size());
    tried_.resize(candidates_.size());
    for (unsigned number = options_.first_attempt; number < options_.attempts && !stop_ && left() > 0;
         ++number)
      attempt(number);
    for (size_t c = 0; c < candidates_.size(); ++c) conclude(c);
    for (const Proof& proof : report_.proofs) {
      report_.runs += proof.runs;
      if (!proof.tried) ++report_.not_tried;
    }
    report_.not_written.assign(not_written_.begin(), not_written_.end());
    keep_failures();
    report_.seconds = options_.now() - start_;
    return std::move(report_);
  }

 private:
  static std::optional<RecordedVisits> visits_of(const ProveOptions& options,
                                                 const std::vector<const Candidate*>& candidates) {
    if (options.records == nullptr || candidates.empty()) return std::nullopt;
    return RecordedVisits(*options.records);
  }

  // Nothing when we were asked to end.
  double left() const { return interrupted() ? 0 : options_.budget - (options_.now() - start_); }

  // What runs of a candidate have shown so far.
  struct Progress {
    bool atomic = false, undecided = false;
  };

  // One attempt for every candidate that is not proved, then the next: where time runs out, all had the same
  // chance.
  void attempt(unsigned number) {
    next_ = 0;
    if (options_.progress != nullptr)
      options_.progress->begin(
          fmt::format("candidates run, attempt {} of {} at most", number + 1, options_.attempts),
          candidates_.size());
    run_workers(options_.jobs, [this, number](unsigned) {
      for (size_t c = next_++; c < candidates_.size(); c = next_++) {
        if (stop_ || left() <= 0) return;
        if (options_.progress != nullptr) options_.progress->more();
        if (number >= kRefutedAttempts && candidates_[c]->refuted()) continue;
        if (report_.proofs[c].verdict != Verdict::Confirmed) bounded(c, number);
      }
    });
  }

  // A run that does not fit into memory leaves its candidate as it was, and the others their chance.
  void bounded(size_t c, unsigned number) {
    try {
      candidate(c, number);
    } catch (const std::bad_alloc&) {
      report_.proofs[c].note = "there was not enough memory to judge its run";
    }
  }

  void candidate(size_t c, unsigned number) {
    Proof& proof = report_.proofs[c];
    if (!proof.tried) proof.finding = findings_[c];
    proof.tried = true;
    std::optional<Plan> plan = plan_for(c, number);
    if (!plan) return;
    Result<JudgedRun> run = once(c, proof, *plan, planner_.is_model(*candidates_[c], number));
    if (!run) {
      proof.note = run.error().sentence();
      return;
    }
    if (!run.value().there) return;
    switch (run.value().proof.judgement) {
      case judge::Judgement::Atomic:
        progress_[c].atomic = true;
        return;
      case judge::Judgement::Undecided:
        progress_[c].undecided = true;
        break;
      case judge::Judgement::NonAtomic:
        break;
    }
    adopt(proof, run.value(), run.value().proof.judgement);
  }

  void conclude(size_t c) {
    Proof& proof = report_.proofs[c];
    if (progress_[c].atomic && !progress_[c].undecided && proof.verdict == Verdict::Candidate) {
      proof.verdict = Verdict::Infeasible;
      proof.note = "it happened, and a serial order explains that run: atomic after all";
    }
    if (proof.verdict > Verdict::Candidate) proof.note.clear();
  }

  // None if there is nothing to be tried for this attempt that was not tried before.
  std::optional<Plan> plan_for(size_t c, unsigned number) {
    std::vector<EventIndex> milestones;
    for (EventNumber e : planner_.plan(*candidates_[c], number)) milestones.push_back(EventIndex{e});
    if (milestones.empty()) return std::nullopt;
    Result<Plan> plan = plan_of(facts_.trace, milestones,
                                [this](EventIndex event) { return visits_ ? visits_->of(event) : 0; });
    Status valid = plan ? validate(plan.value()) : Status(plan.error());
    if (!valid) {
      report_.proofs[c].note = valid.error().sentence();
      return std::nullopt;
    }
    std::vector<Plan>& tried = tried_[c];
    if (std::find(tried.begin(), tried.end(), plan.value()) != tried.end()) return std::nullopt;
    if (options_.worth_running && !options_.worth_running(plan.value())) return std::nullopt;
    tried.push_back(plan.value());
    return std::move(plan).value();
  }

  Result<JudgedRun> once(size_t c, Proof& proof, const Plan& plan, bool is_model) {
    exec::RunRequest request;
    request.program = options_.program.words;
    request.checked = options_.program.checked;
    request.directory = options_.scratch.empty() ? options_.program.directory : options_.scratch;
    request.inherited = options_.program.environment;
    request.policy = Policy::Plan;
    request.plan = plan;
    request.sites = options_.recorded;
    Result<TemporaryFile> scratch = TemporaryFile::make("run");
    if (!scratch) {
      stop_for(scratch.error().sentence());
      return scratch.error();
    }
    request.trace = scratch.value().path();
    request.time_limit =
        std::chrono::milliseconds(static_cast<int64_t>(std::clamp(left(), 0.1, options_.run_limit) * 1000));
    request.trace_limit = trace_limit_;
    request.quiet = true;
    for (const auto& [name, value] : candidates_[c]->inputs) request.inputs[name] = fmt::format("{}", value);
    ++proof.runs;
    Result<exec::RunOutcome> outcome = exec::run(request);
    if (!outcome) {
      stop_for(outcome.error().sentence());
      return outcome.error();
    }
    request.directory = options_.program.directory;
    if (options_.on_run) options_.on_run(request, outcome.value());
    note_outcome(c, proof.runs, request, outcome.value());
    if (!outcome.value().plan.complete()) proof.note = outcome.value().plan.why;
    Result<JudgedRun> judged = judge_run(request.trace, sites_of(facts_.trace, candidates_[c]->triple()),
                                         pattern_of(candidates_[c]->triple()), options_);
    if (judged && judged.value().there && judged.value().proof.judgement != judge::Judgement::Atomic) {
      Witness witness = exec::witness_of(request, outcome.value());
      witness.finding = findings_[c].id;
      witness.milestones = plan;
      std::string path = witness_path(findings_[c].id);
      if (Status written = write_witness(witness, path); written)
        proof.finding.witness = path;
      else
        note_not_written(written.error().sentence());
    }
    if (is_model && judged && !judged.value().there)
      proof.difference = difference(*candidates_[c], request.trace);
    return judged;
  }

  // How a run ended. Candidates are run beside each other: which of the failing runs comes first is decided
  // when all are over.
  struct Ended {
    size_t candidate;
    unsigned run;
    exec::RunRequest request;
    exec::RunOutcome outcome;
  };
  void note_outcome(size_t c, unsigned run, const exec::RunRequest& request,
                    const exec::RunOutcome& outcome) {
    const std::optional<FailureReport> failure = FailureLog::failure_of(outcome);
    if (!failure || failure->end == FailureEnd::TimeLimit) return;  // the limit is ours
    std::lock_guard guard(mutex_);
    ++report_.failed;
    auto same = std::find_if(ended_.begin(), ended_.end(), [&](const Ended& known) {
      return known.outcome.end == outcome.end && known.outcome.exit_status == outcome.exit_status &&
             known.outcome.signal == outcome.signal;
    });
    ++counts_[{failure->end, failure->number}];
    if (same == ended_.end())
      ended_.push_back({c, run, request, outcome});
    else if (std::pair(c, run) < std::pair(same->candidate, same->run))
      *same = {c, run, request, outcome};
  }
  // Runs side by side share files, ports and other things of the machine. A failure that the same schedule
  // does not have when it runs alone is not the program's.
  bool comes_back(const Ended& ended) const {
    exec::RunRequest request = ended.request;
    request.policy = Policy::Replay;
    request.schedule = ended.outcome.schedule;
    request.plan.reset();
    request.trace.clear();
    request.time_limit = std::chrono::milliseconds(static_cast<int64_t>(options_.run_limit * 1000));
    const Result<exec::RunOutcome> again = exec::run(request);
    return again && again.value().end == ended.outcome.end &&
           again.value().exit_status == ended.outcome.exit_status &&
           again.value().signal == ended.outcome.signal;
  }

  void keep_failures() {
    std::sort(ended_.begin(), ended_.end(), [](const Ended& a, const Ended& b) {
      return std::pair(a.candidate, a.run) < std::pair(b.candidate, b.run);
    });
    for (const Ended& ended : ended_) {
      if (options_.jobs > 1 && !interrupted() && !comes_back(ended)) continue;
      FailureLog log(options_.program.words.front());
      FailureLog::Failure* failure = log.add(ended.outcome, std::nullopt, "");
      const std::string name = log.witness_name(*failure);
      const std::string path = options_.witnesses.empty() ? name : options_.witnesses + "/" + name;
      const Status written = FailureLog::keep_witness(*failure, ended.request, ended.outcome, path);
      Finding finding = log.findings().front();
      if (!written) finding.note = "its witness is not there: " + written.error().sentence();
      finding.failure->failed = finding.occurrences =
          counts_[{finding.failure->end, finding.failure->number}];
      finding.failure->runs = report_.runs;
      report_.failures.push_back(std::move(finding));
    }
  }

  std::string difference(const Candidate& candidate, const std::string& path) const {
    Result<Trace> run = load_trace(path);
    if (!run) return run.error().sentence();
    std::string found = first_difference(facts_.trace, candidate.symbolic_order, run.value());
    return found.empty() ? "the run did what the model says, and the triple is not in it" : found;
  }

  Pattern pattern_of(const prediction::Triple& triple) const {
    auto kind = [this](EventNumber e) { return facts_.event(e).kind; };
    return judge::pattern_of(kind(triple.first), kind(triple.remote), kind(triple.second));
  }

  // witness-3f9a12cc.json; a second finding with the same id gets a number.
  std::string witness_path(const std::string& id) {
    std::lock_guard guard(mutex_);
    std::string stem = "witness-" + id.substr(id.find('-') + 1);
    std::string name = stem;
    for (int n = 2; !names_.insert(name).second; ++n) name = fmt::format("{}-{}", stem, n);
    return (options_.witnesses.empty() ? "" : options_.witnesses + "/") + name + ".json";
  }

  void note_not_written(const std::string& sentence) {
    std::lock_guard guard(mutex_);
    not_written_.insert(sentence);
  }

  // When the program cannot be started at all, trying the next candidate is of no use.
  void stop_for(const std::string& problem) {
    std::lock_guard guard(mutex_);
    if (report_.problem.empty()) report_.problem = problem;
    stop_ = true;
  }

  void adopt(Proof& proof, const JudgedRun& run, judge::Judgement judgement) {
    proof.verdict = judgement == judge::Judgement::NonAtomic ? Verdict::Confirmed : Verdict::Witnessed;
    proof.finding.verdict = proof.verdict;
    proof.finding.accesses = run.accesses;
    proof.finding.unit = run.unit;
    if (!run.cause.rule.empty()) proof.finding.cause = run.cause;
    proof.finding.proof = run.proof.name;
    proof.finding.why = run.proof.why;
    proof.finding.note = run.proof.reason;
  }

  const prediction::TraceIndex& facts_;
  const std::optional<RecordedVisits> visits_;
  const Planner planner_;
  const std::vector<const Candidate*>& candidates_;
  const std::vector<Finding>& findings_;
  const ProveOptions& options_;
  ProveReport report_;
  std::vector<Progress> progress_;        // by candidate
  std::vector<std::vector<Plan>> tried_;  // by candidate
  double start_ = 0;
  uint64_t trace_limit_ = 0;
  std::atomic<size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // of names_, not_written_, ended_, counts_ and report_.problem
  std::set<std::string> names_, not_written_;
  std::vector<Ended> ended_;  // the first run of each way to fail
  std::map<std::pair<FailureEnd, int>, uint64_t> counts_;
};

}  // namespace

ProveReport prove(const prediction::TraceIndex& facts,
                  const std::vector<const prediction::Candidate*>& candidates,
                  const std::vector<Finding>& findings, const ProveOptions& options) {
  return Prover(facts, candidates, findings, options).run();
}

}  // namespace cleave::confirm
