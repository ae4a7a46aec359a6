#include "confirm/failures.h"

#include <algorithm>

namespace cleave::confirm {

std::optional<FailureReport> FailureLog::failure_of(const exec::RunOutcome& outcome) {
  FailureReport report;
  switch (outcome.end) {
    case exec::RunEnd::Exited:
      if (outcome.exit_status == 0) return std::nullopt;
      report.end = FailureEnd::Exit;
      report.number = outcome.exit_status;
      break;
    case exec::RunEnd::Signalled:
      report.end = FailureEnd::Signal;
      report.number = outcome.signal;
      break;
    case exec::RunEnd::Deadlock:
      report.end = FailureEnd::Deadlock;
      break;
    case exec::RunEnd::Livelock:
      report.end = FailureEnd::Livelock;
      break;
    case exec::RunEnd::TimeLimit:
      report.end = FailureEnd::TimeLimit;
      break;
    case exec::RunEnd::Diverged:
      return std::nullopt;
  }
  report.text = outcome.text;
  return report;
}

FailureLog::Failure* FailureLog::add(const exec::RunOutcome& outcome, std::optional<uint64_t> seed,
                                     const std::string& called) {
  ++runs_;
  std::optional<FailureReport> report = failure_of(outcome);
  if (!report) return nullptr;
  ++failed_;
  auto known = std::find_if(failures_.begin(), failures_.end(), [&](const Failure& failure) {
    return failure.report.end == report->end && failure.report.number == report->number;
  });
  const bool fresh = known == failures_.end();
  if (fresh) {
    report->first = called;
    known = failures_.insert(known, {std::move(*report), ""});
  }
  ++known->report.failed;
  if (seed) known->report.seeds.push_back(*seed);
  return fresh ? &*known : nullptr;
}

Status FailureLog::keep_witness(Failure& failure, const exec::RunRequest& request,
                                const exec::RunOutcome& outcome, const std::string& path) {
  if (!serialised(request.policy)) return Done{};
  Status written = write_witness(exec::witness_of(request, outcome), path);
  if (written) failure.witness = path;
  return written;
}

std::string FailureLog::witness_name(const Failure& failure) const {
  const std::string id = failure_finding(program_, failure.report, "").id;
  return "witness-" + id.substr(id.find('-') + 1) + ".json";
}

std::vector<Finding> FailureLog::findings() const {
  std::vector<Finding> findings;
  for (const Failure& failure : failures_) {
    FailureReport report = failure.report;
    report.runs = runs_;
    findings.push_back(failure_finding(program_, std::move(report), failure.witness));
  }
  return findings;
}

}  // namespace cleave::confirm
