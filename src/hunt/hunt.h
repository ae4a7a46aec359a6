// The directed search (AtomChase, algorithm 1): candidates of the runs so far, a plan for one of them, the
// program run along it under control, what that run shows, and again.
//
// Executions alternate between directed ones (a plan; where no plan can be followed, its reads-from
// constraints) and exploring ones (reverse, each thread first, random, rf, pct, pos), which bring new
// candidates and other ways to fail. Every trace is judged, gives candidates, and counts for the coverage of
// reads-from pairs. Everything is decided from the seed and from what earlier executions did: with one worker
// and a number of executions two hunts are the same. With several workers that many tries are chosen, made
// side by side, and learned from in their order.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "findings/finding.h"
#include "hunt/lesson.h"
#include "hunt/state.h"

namespace cleave::hunt {

struct HuntOptions {
  std::vector<std::string> program;
  std::string directory;    // where it is run
  std::string witnesses;    // folder for witness files; empty: here
  uint64_t executions = 0;  // 0: as many as the budget lasts for
  double budget = 300;      // seconds
  double run_limit = 20;    // seconds for one execution
  unsigned jobs = 1;
  bool scratch = false;  // each execution in a copy of the directory
  bool stop = false;     // at the first failure or proof
  LookOptions look;
  // Asked about the candidates of the first run; may be empty.
  std::function<void(const RecordedTrace&, prediction::Prediction&)> decide;
  std::vector<Finding> wanted;   // candidates from elsewhere: those like them come first
  HuntState state;               // to go on from
  Progress* progress = nullptr;  // told of each execution
};

struct HuntReport {
  std::vector<Finding> findings;  // proved or witnessed triples, then failures
  uint64_t executions = 0;        // of this call
  uint64_t candidates = 0, tried = 0, confirmed = 0, failed = 0, time_limits = 0, pairs = 0;
  std::string first_failure, first_proof;  // which execution had it; empty: none
  std::vector<std::string> not_reached;    // candidates that no execution showed, and why
  uint64_t wanted_missed = 0;              // of the wanted ones
  std::vector<std::string> problems;  // a witness that could not be written, a trace that is not readable
  bool budget_spent = false;
  HuntState state;
};

// An Error when the program cannot be run, does not end, or is not built with Cleave.
Result<HuntReport> hunt(const HuntOptions& options);

}  // namespace cleave::hunt
