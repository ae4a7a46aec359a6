#include "hunt/hunt.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/interrupt.h"
#include "base/random.h"
#include "base/temporary.h"
#include "base/workers.h"
#include "confirm/failures.h"
#include "hunt/execution.h"
#include "hunt/reads_from.h"
#include "hunt/targets.h"

namespace cleave::hunt {
namespace {

class Hunter {
 public:
  explicit Hunter(const HuntOptions& options)
      : options_(options),
        targets_(options.wanted, options.state.targets),
        failures_(options.program.front()),
        start_(options.look.now()) {
    report_.state = options.state;
    report_.state.program = options.program;
  }

  Result<HuntReport> run() {
    if (Status first = first_run(); !first) return first.error();
    while (!over()) {
      std::vector<Try> batch;
      for (unsigned i = 0; i < std::max(1u, options_.jobs) && !spent(batch.size()); ++i)
        if (std::optional<Try> next = choose()) batch.push_back(std::move(*next));
      if (batch.empty()) break;
      run_workers(static_cast<unsigned>(batch.size()),
                  [&](unsigned number) { executor_->execute(batch[number], time_left()); });
      for (Try& each : batch) take(each);
    }
    return conclude();
  }

 private:
  double time_left() const { return options_.budget - (options_.look.now() - start_); }
  bool spent(uint64_t coming = 0) const {
    return options_.executions != 0 && report_.executions + coming >= options_.executions;
  }
  bool over() const {
    if (interrupted() || spent() || time_left() <= 0) return true;
    if (!fatal_.empty() || (options_.stop && (failures_.failed() != 0 || report_.confirmed != 0)))
      return true;
    return threads_ < 2 && report_.executions >= kLonely;
  }

  // Serial, recorded; everything else starts from its trace.
  Status first_run() {
    Result<TemporaryFile> made = TemporaryFile::make("hunt");
    if (!made) return made.error();
    first_ = std::move(made).value();
    executor_.emplace(options_, first_->path());
    Try first;
    first.policy = Policy::Serial;
    first.trace = first_->path();
    first.decide = true;
    executor_->execute(first, time_left());
    if (!first.problem.empty()) return Error{"", first.problem};
    if (first.outcome.end == exec::RunEnd::TimeLimit && !interrupted())
      return Error{
          options_.program.front(),
          fmt::format("did not end within {} s, and a hunt runs it many times: give it arguments with "
                      "which it ends, or a higher --time-limit",
                      options_.run_limit)};
    take(first);
    return Done{};
  }

  // Directed and exploring executions take turns. When no candidate is left, all explore.
  std::optional<Try> choose() {
    if (++chosen_ % 2 == 1)
      if (std::optional<Try> directed = choose_directed()) return directed;
    return explore();
  }

  std::optional<Try> choose_directed() {
    Target* target = targets_.next();
    if (target == nullptr) return std::nullopt;
    Try result;
    result.target = target;
    if (!target->relax) return result;
    target->relax = false;
    result.constraints = relaxed(*target->lesson, target->what());
    if (result.constraints.empty()) return result;
    result.policy = Policy::Rf;
    result.seed = report_.state.seed + report_.state.executions;
    return result;
  }

  std::optional<Try> explore() {
    Try result;
    const uint64_t number = report_.state.explored++;
    result.seed = report_.state.seed + number;
    if (number == 1 || number == 3) {
      result.policy = number == 1 ? Policy::Reverse : Policy::First;
      if (number == 3) result.seed = 1;
      return result;
    }
    // Each thread first, now and then, as long as there are threads that have not been.
    if (number % 8 == 7 && number / 8 + 2 < threads_) {
      result.policy = Policy::First;
      result.seed = number / 8 + 2;
      return result;
    }
    constexpr Policy kCycle[] = {Policy::Random, Policy::Rf, Policy::Random, Policy::Pct,
                                 Policy::Random, Policy::Rf, Policy::Random, Policy::Pos};
    result.policy = kCycle[number % std::size(kCycle)];
    if (result.policy == Policy::Rf) {
      Random random(result.seed);
      result.constraints = reads_from_.sample(random);
      if (result.constraints.empty()) result.policy = Policy::Random;
    }
    result.pct_points = points_;
    return result;
  }

  // What an execution showed.
  void take(Try& done) {
    if (done.target != nullptr) done.target->busy = false;
    if (!done.ran) return take_missing(done);
    ++report_.executions;
    ++report_.state.executions;
    if (options_.progress != nullptr) options_.progress->more();
    take_end(done);
    if (done.target != nullptr) take_target(done);
    if (done.lesson == nullptr) {
      if (!done.problem.empty()) note_problem(done.problem);
      return;
    }
    const Trace& trace = done.lesson->recorded.trace;
    threads_ = std::max(threads_, trace.threads().size());
    points_ = std::max<uint64_t>(points_, done.outcome.schedule.points());
    if (reads_from_.add(trace) != 0) reads_from_.reward(done.constraints);
    take_observed(done);
    targets_.add(done.lesson);
  }

  // There was nothing to be run for this attempt, or the program could not be started.
  void take_missing(Try& done) {
    if (!done.problem.empty()) fatal_ = done.problem;
    if (done.target != nullptr) next_attempt(*done.target);
  }

  void next_attempt(Target& target) {
    ++target.state.attempts;
    if (++target.attempt >= (target.what().refuted() ? 4 : Targets::kAttempts)) target.state.done = true;
  }

  std::string name_of(const Try& done) const {
    return fmt::format("execution {} ({})", report_.state.executions, done.name());
  }

  void take_end(Try& done) {
    if (done.outcome.end == exec::RunEnd::TimeLimit) {  // the limit is ours
      ++report_.time_limits;
      return;
    }
    if (interrupted() && done.outcome.failing()) return;  // that is our doing
    confirm::FailureLog::Failure* failure = failures_.add(done.outcome, std::nullopt, name_of(done));
    if (done.outcome.failing() && report_.first_failure.empty()) report_.first_failure = name_of(done);
    if (failure == nullptr) return;
    const std::string path = in_folder(failures_.witness_name(*failure));
    if (Status written = confirm::FailureLog::keep_witness(*failure, done.request, done.outcome, path);
        !written)
      note_problem(written.error().sentence());
  }

  void take_target(Try& done) {
    Target& target = *done.target;
    if (done.policy == Policy::Rf) return;  // what happened is in what the trace shows
    next_attempt(target);
    if (!done.note.empty()) target.state.note = done.note;
    // A plan that was not followed to its end degrades to its constraints.
    target.relax = !done.outcome.plan.complete();
    if (done.proof.verdict == Verdict::Infeasible) {
      target.state.note = done.note;
      return;
    }
    if (done.proof.verdict > Verdict::Candidate) add_finding(target, done.proof.finding, done);
  }

  // Candidates that happened in the run without having been asked for, and the one that was.
  void take_observed(Try& done) {
    for (size_t c = 0; c < done.lesson->observed.size(); ++c) {
      if (!done.lesson->observed[c]) continue;
      Finding finding = done.lesson->observed[c]->finding;
      finding.note = "it happened in " + name_of(done);
      auto known = targets_.all().find(done.lesson->keys[c]);
      if (known == targets_.all().end()) {
        targets_.add(done.lesson);
        known = targets_.all().find(done.lesson->keys[c]);
        if (known == targets_.all().end()) continue;
      }
      add_finding(known->second, std::move(finding), done);
    }
  }

  void add_finding(Target& target, Finding finding, const Try& done) {
    if (finding.verdict <= target.verdict) return;
    target.verdict = finding.verdict;
    if (finding.verdict == Verdict::Confirmed) {
      ++report_.confirmed;
      target.state.done = true;
      if (report_.first_proof.empty()) report_.first_proof = name_of(done);
    }
    if (finding.witness.empty()) {
      const std::string path = in_folder("witness-" + finding.id.substr(finding.id.find('-') + 1) + ".json");
      Witness witness = exec::witness_of(done.request, done.outcome);
      witness.finding = finding.id;
      if (Status written = write_witness(witness, path); written)
        finding.witness = path;
      else
        note_problem(written.error().sentence());
    }
    auto same = std::find_if(report_.findings.begin(), report_.findings.end(),
                             [&](const Finding& known) { return same_finding(known, finding); });
    if (same == report_.findings.end())
      report_.findings.push_back(std::move(finding));
    else if (same->verdict < finding.verdict)
      *same = std::move(finding);
  }

  std::string in_folder(const std::string& name) const {
    return options_.witnesses.empty() ? name : options_.witnesses + "/" + name;
  }
  void note_problem(const std::string& sentence) {
    if (std::find(report_.problems.begin(), report_.problems.end(), sentence) == report_.problems.end())
      report_.problems.push_back(sentence);
  }

  Result<HuntReport> conclude() {
    if (!fatal_.empty()) note_problem(fatal_);
    for (const auto& [key, target] : targets_.all()) {
      ++report_.candidates;
      report_.tried += target.state.attempts != 0;
      if (target.verdict > Verdict::Candidate || target.what().verdict() == Verdict::Infeasible) continue;
      std::string why = !target.state.note.empty()   ? target.state.note
                        : target.state.attempts == 0 ? "not tried"
                                                     : "no execution had these three accesses in this order";
      report_.not_reached.push_back(fmt::format("{} {} {}: {}", target.finding().id,
                                                word_of(target.what().pattern), target.finding().variable,
                                                why));
    }
    std::vector<std::string> missed = targets_.wanted_missed();
    report_.wanted_missed = missed.size();
    report_.not_reached.insert(report_.not_reached.begin(), missed.begin(), missed.end());
    for (Finding& failure : failures_.findings()) report_.findings.push_back(std::move(failure));
    report_.failed = failures_.failed();
    report_.pairs = reads_from_.pairs();
    report_.budget_spent = time_left() <= 0;
    report_.state.targets = targets_.state();
    if (threads_ < 2) note_problem("the program started only one thread, so there is nothing to interleave");
    separate_ids(report_.findings);
    return std::move(report_);
  }

  static constexpr uint64_t kLonely = 3;  // executions after which a program with one thread is left alone

  const HuntOptions& options_;
  Targets targets_;
  ReadsFrom reads_from_;
  confirm::FailureLog failures_;
  HuntReport report_;
  double start_;
  std::optional<TemporaryFile> first_;
  std::optional<Executor> executor_;
  std::string fatal_;
  uint64_t chosen_ = 0, points_ = 0;
  size_t threads_ = 0;
};

}  // namespace

Result<HuntReport> hunt(const HuntOptions& options) { return Hunter(options).run(); }

}  // namespace cleave::hunt
