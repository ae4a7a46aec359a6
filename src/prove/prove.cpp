#include "prove/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include "exec/run.h"
#include "prove/judged_run.h"
#include "schedule/plan.h"
#include "schedule/witness.h"

namespace cleave::prove {
namespace {

using prediction::Candidate;
using prediction::EventNumber;
using prediction::Triple;

bool takes_lock(EventKind kind) { return kind == EventKind::Acquire || kind == EventKind::AcquireShared; }

class Prover {
 public:
  Prover(const prediction::Facts& facts, const std::vector<const Candidate*>& candidates,
         const std::vector<Finding>& findings, const ProveOptions& options)
      : facts_(facts), candidates_(candidates), findings_(findings), options_(options) {}

  ProveReport run() {
    start_ = options_.now();
    report_.proofs.resize(candidates_.size());
    std::vector<std::thread> workers;
    for (unsigned w = 1; w < std::max(1u, options_.jobs); ++w) workers.emplace_back([this] { work(); });
    work();
    for (std::thread& worker : workers) worker.join();
    for (const Proof& proof : report_.proofs) {
      report_.runs += proof.runs;
      if (!proof.tried) ++report_.not_tried;
    }
    report_.seconds = options_.now() - start_;
    return std::move(report_);
  }

 private:
  double left() const { return options_.budget - (options_.now() - start_); }

  void work() {
    for (size_t c = next_++; c < candidates_.size(); c = next_++) {
      if (stop_ || left() <= 0) return;
      candidate(c);
    }
  }

  // Plans from the most specific triple on; until one run is confirmed, or attempts or time run out.
  void candidate(size_t c) {
    Proof& proof = report_.proofs[c];
    proof.tried = true;
    proof.finding = findings_[c];
    bool atomic = false, undecided = false;
    for (const Plan& plan : plans(*candidates_[c], &proof.note)) {
      if (stop_ || proof.runs >= options_.attempts || left() <= 0) break;
      Result<JudgedRun> run = once(c, proof, plan);
      if (!run) {
        proof.note = run.error().sentence();
        continue;
      }
      if (!run.value().there) continue;
      check::Judgement judgement = run.value().proof.judgement;
      if (judgement == check::Judgement::Atomic) {
        atomic = true;
        continue;
      }
      adopt(proof, run.value(), judgement);
      if (judgement == check::Judgement::NonAtomic) break;
      undecided = true;
    }
    if (atomic && !undecided && proof.verdict == Verdict::Candidate) {
      proof.verdict = Verdict::Infeasible;
      proof.note = "it happened, and a serial order explains that run: atomic after all";
    }
    if (proof.verdict > Verdict::Candidate) proof.note.clear();
  }

  std::vector<Plan> plans(const Candidate& candidate, std::string* problem) const {
    std::vector<Plan> result;
    auto add = [&](const std::vector<EventNumber>& events) {
      std::vector<EventIndex> milestones;
      for (EventNumber e : events) milestones.push_back(EventIndex{e});
      Result<Plan> plan = plan_of(facts_.trace, milestones);
      if (!plan) {
        *problem = plan.error().sentence();
        return;
      }
      if (Status valid = validate(plan.value()); !valid) {
        *problem = valid.error().sentence();
        return;
      }
      result.push_back(std::move(plan).value());
    };
    add(with_followers(candidate.triple()));
    if (std::vector<EventNumber> events = with_locks(candidate); !events.empty()) add(events);
    add({candidate.triple().first, candidate.triple().remote, candidate.triple().second});
    for (size_t r = 1; r < candidate.representatives.size() && result.size() < options_.attempts; ++r) {
      add(with_followers(candidate.representatives[r]));
    }
    return result;
  }

  // A milestone is passed when its thread comes to it. That an access is over is certain once its thread comes to the
  // next thing it does: that becomes a milestone too. And a thread that is held at an access inside a critical section
  // keeps the lock from the others: it is held where it takes the lock instead.
  std::vector<EventNumber> with_followers(const Triple& t) const {
    std::vector<EventNumber> events{t.first};
    EventNumber entry = section_of(t.second, facts_.positions.of(t.first));
    EventNumber after_first = follower(t.first);
    if (after_first < t.second && after_first != entry) events.push_back(after_first);
    if (EventNumber taken = section_of(t.remote, 0); taken != prediction::kNoEvent) events.push_back(taken);
    events.push_back(t.remote);
    if (EventNumber next = follower(t.remote); next != prediction::kNoEvent) events.push_back(next);
    if (entry != prediction::kNoEvent) events.push_back(entry);
    events.push_back(t.second);
    return events;
  }

  // Where the access's thread took the first of the locks that it holds there and took after position `after`.
  EventNumber section_of(EventNumber access, prediction::Position after) const {
    uint32_t thread = facts_.thread(access);
    prediction::Position at = facts_.positions.of(access), taken = prediction::kNever;
    for (const order::HeldLock& held : facts_.locks->held(facts_.locks->at(access))) {
      const order::CriticalSection* section = facts_.locks->section_at(held.use.lock, thread, at);
      if (section && section->acquired > after) taken = std::min(taken, section->acquired);
    }
    if (taken == prediction::kNever) return prediction::kNoEvent;
    EventNumber event = facts_.positions.event(thread, taken);
    bool plain = takes_lock(facts_.event(event).kind) && facts_.event(event).site != kNone<SiteId>;
    return plain ? event : prediction::kNoEvent;
  }

  EventNumber follower(EventNumber e) const {
    uint32_t thread = facts_.thread(e);
    prediction::Position last = std::min(facts_.positions.length(thread), facts_.positions.of(e) + 64);
    for (prediction::Position at = facts_.positions.of(e) + 1; at <= last; ++at) {
      EventNumber next = facts_.positions.event(thread, at);
      const Event& event = facts_.event(next);
      bool fits = is_access(event.kind) || takes_lock(event.kind) || event.kind == EventKind::Release ||
                  event.kind == EventKind::ReleaseShared;
      if (fits && event.site != kNone<SiteId> && event.site != facts_.event(e).site) return next;
    }
    return prediction::kNoEvent;
  }

  // The three accesses and, in between, in which order the two threads take and give back their locks, as the solver or
  // the reordering has it. Empty if neither is about this triple.
  std::vector<EventNumber> with_locks(const Candidate& candidate) const {
    const Triple& t = candidate.triple();
    std::vector<EventNumber> order = candidate.symbolic_order;
    if (order.empty() && candidate.reordering) order = candidate.reordering->tail;
    if (order.empty() || order.back() != t.second) return {};
    auto first = std::find(order.begin(), order.end(), t.first);
    std::vector<EventNumber> events{t.first};
    for (auto at = first == order.end() ? order.begin() : first + 1; at != order.end(); ++at) {
      const Event& event = facts_.event(*at);
      bool lock = takes_lock(event.kind) || event.kind == EventKind::Release || event.kind == EventKind::ReleaseShared;
      bool ours = facts_.thread(*at) == facts_.thread(t.first) || facts_.thread(*at) == facts_.thread(t.remote);
      if (*at == t.remote || *at == t.second || (lock && ours && event.site != kNone<SiteId>)) events.push_back(*at);
    }
    return events;
  }

  Result<JudgedRun> once(size_t c, Proof& proof, const Plan& plan) {
    exec::RunRequest request;
    request.program = options_.program.words;
    request.directory = options_.program.directory;
    request.policy = Policy::Plan;
    request.plan = plan;
    request.sites = options_.recorded;
    request.trace = fmt::format("{}/run-{}-{}.cleave", options_.scratch, c, proof.runs);
    request.time_limit = std::chrono::milliseconds(static_cast<int64_t>(std::clamp(left(), 0.1, options_.run_limit) * 1000));
    request.quiet = true;
    for (const auto& [name, value] : candidates_[c]->inputs) request.inputs[name] = fmt::format("{}", value);
    ++proof.runs;
    Result<exec::RunOutcome> outcome = exec::run(request);
    if (!outcome) {
      stop_for(outcome.error().sentence());
      return outcome.error();
    }
    if (!outcome.value().plan.complete()) proof.note = outcome.value().plan.why;
    Result<JudgedRun> judged = judge_run(request.trace, sites_of(facts_.trace, candidates_[c]->triple()), options_);
    if (judged && judged.value().there && judged.value().proof.judgement != check::Judgement::Atomic) {
      Witness witness = exec::witness_of(request, outcome.value());
      witness.finding = findings_[c].id;
      witness.milestones = plan;
      std::string path = witness_path(findings_[c].id);
      if (Status written = write_witness(witness, path); written) proof.finding.witness = path;
    }
    std::error_code ignored;
    std::filesystem::remove(request.trace, ignored);
    return judged;
  }

  // witness-3f9a12cc.json; a second finding with the same id gets a number.
  std::string witness_path(const std::string& id) {
    std::lock_guard guard(mutex_);
    std::string stem = "witness-" + id.substr(id.find('-') + 1);
    std::string name = stem;
    for (int n = 2; !names_.insert(name).second; ++n) name = fmt::format("{}-{}", stem, n);
    return (options_.witnesses.empty() ? "" : options_.witnesses + "/") + name + ".json";
  }

  // When the program cannot be started at all, trying the next candidate is of no use.
  void stop_for(const std::string& problem) {
    std::lock_guard guard(mutex_);
    if (report_.problem.empty()) report_.problem = problem;
    stop_ = true;
  }

  void adopt(Proof& proof, const JudgedRun& run, check::Judgement judgement) {
    proof.verdict = judgement == check::Judgement::NonAtomic ? Verdict::Confirmed : Verdict::Witnessed;
    proof.finding.verdict = proof.verdict;
    proof.finding.accesses = run.accesses;
    proof.finding.proof = run.proof.name;
    proof.finding.why = run.proof.why;
    proof.finding.note = run.proof.reason;
  }

  const prediction::Facts& facts_;
  const std::vector<const Candidate*>& candidates_;
  const std::vector<Finding>& findings_;
  const ProveOptions& options_;
  ProveReport report_;
  double start_ = 0;
  std::atomic<size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // of names_ and report_.problem
  std::set<std::string> names_;
};

}  // namespace

ProveReport prove(const prediction::Facts& facts, const std::vector<const prediction::Candidate*>& candidates,
                  const std::vector<Finding>& findings, const ProveOptions& options) {
  return Prover(facts, candidates, findings, options).run();
}

}  // namespace cleave::prove
