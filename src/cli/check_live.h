// cleave check -- PROG: the same checker, in this process, on the trace that the program is still writing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "analysis/conflict/check.h"
#include "base/result.h"
#include "cli/common.h"
#include "schedule/schedule.h"

namespace cleave::cli {

struct LiveOptions {
  Policy policy = Policy::Free;
  uint64_t seed = 0;
  std::string trace;                  // where the trace is kept; empty: it is not
  bool stop = false;                  // the program is ended at the first finding
  bool gdb = false;                   // … after gdb was attached to it
  bool quiet = false;                 // no progress is shown
  uint64_t allowed_lag = 256u << 20;  // bytes that the checker may be behind before the program has to wait
};

struct LiveReport {
  conflict::CheckReport report;
  std::string program, ended;  // the command line; how it ended, in words
  std::vector<std::string> remarks;
  std::vector<std::string> unmatched;  // a sentence for each pattern that fits nothing in this run
};

// Runs the program to its end, or to the first finding with `stop`. Back-pressure: a program that is further
// ahead than allowed_lag is stopped (SIGSTOP) until the checker has caught up. Findings whose id is not known
// already get their hints, from a second look at the trace if it is small.
Result<LiveReport> check_live(const ProgramLine& program, const LiveOptions& live,
                              conflict::CheckOptions options,
                              const std::function<bool(const std::string& id)>& known);

}  // namespace cleave::cli
