// Runs of the program that failed, counted by the way in which they did: exit status, signal, deadlock,
// livelock, time limit. Every command that runs the program keeps such a log, and its findings are what
// people are told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/run.h"
#include "findings/finding.h"

namespace cleave::confirm {

class FailureLog {
 public:
  // `program` is what was run, with or without its folder.
  explicit FailureLog(const std::string& program) : program_(program.substr(program.rfind('/') + 1)) {}

  struct Failure {
    FailureReport report;
    std::string witness;  // of the first such run; empty: there is none
  };

  // How the run failed; nothing if it did not. A run that left its schedule says nothing about the program.
  static std::optional<FailureReport> failure_of(const exec::RunOutcome& outcome);

  // Counts a run. `seed`: where the same seed is the same run. `called`: what people call the run. If it is
  // the first that failed in its way: the failure, until the next call.
  Failure* add(const exec::RunOutcome& outcome, std::optional<uint64_t> seed, const std::string& called);
  // Writes the schedule of the run, if it had one, as the witness of the failure.
  static Status keep_witness(Failure& failure, const exec::RunRequest& request,
                             const exec::RunOutcome& outcome, const std::string& path);
  // witness-3f9a12cc.json
  std::string witness_name(const Failure& failure) const;

  uint64_t runs() const { return runs_; }
  uint64_t failed() const { return failed_; }
  // In the order in which they were first seen.
  std::vector<Finding> findings() const;

 private:
  std::string program_;
  std::vector<Failure> failures_;
  uint64_t runs_ = 0, failed_ = 0;
};

}  // namespace cleave::confirm
