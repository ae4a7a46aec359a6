#include "cli/predict_undecided.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "base/interrupt.h"

namespace cleave::cli {
namespace {

constexpr std::string_view kUnknown = "unknown: ";
constexpr double kMoreTime = 10;  // times as much as there was

// "unknown: time: that for this stage is used up" is about time.
std::string reason_of(const prediction::Candidate& candidate, const UndecidedOptions& options) {
  if (!candidate.symbolic.starts_with(kUnknown)) {
    if (interrupted()) return "interrupted";
    return options.stage_problem.empty() ? "not looked at" : options.stage_problem;
  }
  const std::string why = candidate.symbolic.substr(kUnknown.size());
  return why.substr(0, why.find(':'));
}

}  // namespace

bool undecided(const prediction::Candidate& candidate, Verdict verdict) {
  if (candidate.reached != prediction::Reached::Locks || verdict >= Verdict::Feasible) return false;
  // A run that had it and was atomic has decided it too, and then nothing but the run said `infeasible`.
  const bool by_run = verdict == Verdict::Infeasible && candidate.verdict() != Verdict::Infeasible;
  return candidate.symbolic != "unsat" && !by_run;
}

std::string undecided_sentence(const prediction::Prediction& prediction, const std::vector<Verdict>& verdicts,
                               const UndecidedOptions& options, const std::vector<std::string>& words) {
  std::map<std::string, size_t> reasons;
  size_t count = 0;
  for (size_t c = 0; c < prediction.candidates.size(); ++c) {
    if (!options.symbolic || !undecided(prediction.candidates[c], verdicts[c])) continue;
    ++count;
    ++reasons[reason_of(prediction.candidates[c], options)];
  }
  if (count == 0) return "";
  std::vector<std::string> parts;
  for (const auto& [reason, times] : reasons)
    parts.push_back(reasons.size() == 1 ? reason : fmt::format("{} {}", times, reason));
  std::string sentence =
      fmt::format("undecided: {} candidate{} ({})", count, count == 1 ? "" : "s", fmt::join(parts, ", "));
  if (reasons.contains("interrupted")) return sentence + "; to go on: " + command_with(words, "", "");
  if (!reasons.contains("time")) return sentence;
  const double more = options.solver_seconds > 0 ? options.solver_seconds * kMoreTime : 60;
  return sentence + "; to go on: " + command_with(words, "--solver-seconds", fmt::format("{}", more));
}

}  // namespace cleave::cli
