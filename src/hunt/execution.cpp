#include "hunt/execution.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/temporary.h"

namespace cleave::hunt {
namespace {

// A run whose trace is so many times as long as the first goes round in circles.
constexpr uint64_t kTimesFirst = 16, kLeastTrace = uint64_t{32} << 20;

// A copy of the directory, gone with the object.
class Scratch {
 public:
  static Result<Scratch> make(const std::string& directory) {
    std::string path = temporary_folder() + "/cleave-hunt-XXXXXX";
    if (mkdtemp(path.data()) == nullptr)
      return Error{temporary_folder(), "a scratch directory cannot be made"};
    Scratch scratch(path);
    std::error_code failed;
    std::filesystem::copy(
        directory, path,
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks, failed);
    if (failed) return Error{directory, "cannot be copied for --scratch: " + failed.message()};
    return scratch;
  }
  Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace

std::string Try::name() const {
  if (target != nullptr)
    return fmt::format("{} for {}", policy == Policy::Rf ? "constraints" : "plan", target->finding().id);
  if (policy == Policy::Serial || policy == Policy::Reverse) return std::string(word_of(policy));
  return fmt::format("{}, seed {}", word_of(policy), seed);
}

void Executor::execute(Try& each, double seconds) {
  std::optional<Scratch> scratch;
  if (options_.scratch) {
    Result<Scratch> made = Scratch::make(options_.directory);
    if (!made) {
      each.problem = made.error().sentence();
      return;
    }
    scratch.emplace(std::move(made).value());
  }
  const std::string folder = scratch ? scratch->path() : "";
  const double limit = std::clamp(seconds, 0.1, options_.run_limit);
  if (each.target != nullptr && each.constraints.empty())
    along_plan(each, limit, folder);
  else
    under_policy(each, limit, folder);
}

bool Executor::is_new(const Plan& plan) {
  std::lock_guard guard(mutex_);
  if (std::find(plans_.begin(), plans_.end(), plan) != plans_.end()) return false;
  plans_.push_back(plan);
  return true;
}

void Executor::along_plan(Try& each, double seconds, const std::string& scratch) {
  const Lesson& lesson = *each.target->lesson;
  confirm::ProveOptions proving;
  proving.program.words = options_.program;
  proving.program.directory = options_.directory;
  proving.scratch = scratch;
  proving.recorded = sites_;
  proving.records = &lesson.recorded;
  proving.witnesses = options_.witnesses;
  proving.units = lesson.sources;
  proving.sets = options_.look.sets;
  proving.final_writes = options_.look.final_writes;
  proving.first_attempt = each.target->attempt;
  proving.attempts = each.target->attempt + 1;
  proving.budget = proving.run_limit = seconds;
  proving.now = options_.look.now;
  proving.worth_running = [this](const Plan& plan) { return is_new(plan); };
  proving.on_run = [&](const exec::RunRequest& request, const exec::RunOutcome& outcome) {
    finish(each, request, outcome);
  };
  const std::vector<const prediction::Candidate*> candidates = {&each.target->what()};
  confirm::ProveReport report = confirm::prove(*lesson.facts, candidates, {each.target->finding()}, proving);
  each.proof = std::move(report.proofs.front());
  each.note = each.proof.note;
  if (!report.problem.empty()) each.problem = report.problem;
}

void Executor::under_policy(Try& each, double seconds, const std::string& scratch) {
  std::optional<TemporaryFile> temporary;
  exec::RunRequest request;
  request.trace = each.trace;
  if (each.trace.empty()) {
    Result<TemporaryFile> made = TemporaryFile::make("hunt");
    if (!made) {
      each.problem = made.error().sentence();
      return;
    }
    temporary = std::move(made).value();
    request.trace = temporary->path();
  }
  request.program = options_.program;
  request.directory = scratch.empty() ? options_.directory : scratch;
  request.policy = each.policy;
  request.seed = each.seed;
  request.pct_points = each.pct_points;
  request.constraints = each.constraints;
  request.sites = sites_;
  request.quiet = true;
  request.time_limit = std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
  if (each.trace.empty()) request.trace_limit = trace_limit();
  Result<exec::RunOutcome> outcome = exec::run(request);
  if (!outcome) {
    each.problem = outcome.error().sentence();
    return;
  }
  request.directory = options_.directory;
  finish(each, request, outcome.value());
}

void Executor::finish(Try& each, const exec::RunRequest& request, const exec::RunOutcome& outcome) {
  each.ran = true;
  each.request = request;
  each.outcome = outcome;
  // The first run did not end: there is no hunt. What goes round in a circle teaches nothing either, and its
  // trace may be as long as the disk.
  if (outcome.end == exec::RunEnd::Livelock || (each.decide && outcome.end == exec::RunEnd::TimeLimit))
    return;
  Result<std::shared_ptr<Lesson>> lesson =
      learn(request.trace, options_.look, each.decide ? options_.decide : nullptr);
  if (lesson)
    each.lesson = std::move(lesson).value();
  else
    each.problem = lesson.error().sentence();
}

uint64_t Executor::trace_limit() const {
  std::error_code unknown;
  const uint64_t first = std::filesystem::file_size(sites_, unknown);
  return std::max(kLeastTrace, unknown ? 0 : kTimesFirst * first);
}

}  // namespace cleave::hunt
