// cleave check -- PROG: the same checker, in this process, on the trace that the program is still writing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "analysis/conflict/check.h"
#include "base/result.h"
#include "cli/common.h"
#include "exec/run.h"
#include "schedule/schedule.h"

namespace cleave::cli {

struct LiveOptions {
  Policy policy = Policy::Free;
  uint64_t seed = 0;
  std::vector<Constraint> constraints;  // rf
  std::string sites;                    // a trace of the program, where there are constraints
  std::string trace;                    // where the trace is kept; empty: it is not
  bool stop = false;                    // the program is ended at the first finding
  bool gdb = false;                     // … after gdb was attached to it
  bool quiet = false;                   // no progress is shown
  bool no_drain = false;                // under control: the process ends as soon as main returns
  // Bytes that the checker may be behind before the program has to wait; not set: as many as exec/flow.h
  // thinks the memory bears.
  std::optional<uint64_t> allowed_lag;
  uint64_t max_trace = 0;  // of a trace that is kept: bytes at which the recording ends; 0: 8 GB
};

struct LiveReport {
  conflict::CheckReport report;
  std::string program, ended;  // the command line; how it ended, in words
  std::vector<std::string> remarks;
  std::vector<std::string> unmatched;        // a sentence for each pattern that fits nothing in this run
  std::vector<std::string> unmatched_units;  // globs of functions:GLOB that fit nothing in this run
  exec::RunRequest request;
  exec::RunOutcome outcome;
  bool stopped = false;  // we, or who asked us to, ended the program
};

// Runs the program to its end, to the first finding with `stop`, or until we are asked to end. Back-pressure:
// a program that is further ahead than allowed_lag waits until the checker has caught up (abi/flow.h).
// Findings whose id is not known already get their hints, from a second look at the trace if it is small.
Result<LiveReport> check_live(const ProgramLine& program, const LiveOptions& live,
                              conflict::CheckOptions options,
                              const std::function<bool(const std::string& id)>& known);

}  // namespace cleave::cli
