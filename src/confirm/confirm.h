// From prediction to proof: the program is run along a plan for each candidate, and check/ judges what it
// did.
//
// plans.h has the plans: along the order that a model gave, along the recorded one with a thread held back,
// the three accesses alone; further attempts take other event triples of the same program locations. The
// trace of each run goes to check/, which alone says `witnessed` (the triple is there) or `confirmed` (and no
// serial order explains the run). When every run that has the triple is atomic after all, the candidate is no
// violation.
//
// Runs of different candidates go in parallel. The budget is wall-clock time for all of them; a run that is
// under way when it ends is stopped, and what it did until then is judged.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/predict/predict.h"
#include "base/progress.h"
#include "confirm/program_line.h"
#include "exec/run.h"
#include "units/find.h"
#include "units/sets.h"
#include "units/units.h"

namespace cleave {
struct RecordedTrace;
}

namespace cleave::confirm {

struct ProveOptions {
  ProgramLine program;
  std::string recorded;  // the trace that the candidates are of: sites are known from it
  const RecordedTrace* records =
      nullptr;            // the same trace with its records, if it has any: plans count visits with them
  std::string witnesses;  // folder for the witness files; empty: here
  units::UnitSources units;
  SetOptions sets;
  bool final_writes = true;  // false: --no-final
  bool order_is_real =
      false;  // of the accesses in the given trace: recorded under control, or a text that fits itself
  unsigned jobs = 1;
  unsigned first_attempt = 0;    // the first of these that is made
  unsigned attempts = 10;        // plans for one candidate, as long as the budget lasts
  double budget = 60;            // seconds for all runs
  double run_limit = 20;         // seconds for one run
  std::function<double()> now;   // seconds; needed
  Progress* progress = nullptr;  // told which candidates have been run
  std::string scratch;           // run there; empty: in the program's directory
  // Asked before each run, which is left out if the plan is not worth one; empty: all are.
  std::function<bool(const Plan&)> worth_running;
  // Told of each run while its trace is still there. Runs of different candidates end in different threads.
  std::function<void(const exec::RunRequest&, const exec::RunOutcome&)> on_run;
};

// What running the program made of one candidate.
struct Proof {
  Verdict verdict = Verdict::Candidate;  // Witnessed, Confirmed; Infeasible: atomic after all; else not shown
  bool tried = false;
  unsigned runs = 0;
  Finding finding;         // Witnessed, Confirmed: with the accesses, proof and witness of the real run
  std::string note;        // why it was not shown
  std::string difference;  // where the run along the solver's whole order left it, when it did
};

struct ProveReport {
  std::vector<Proof> proofs;  // by candidate, in the order given
  unsigned runs = 0;
  uint64_t not_tried = 0;  // because the budget ran out
  double seconds = 0;
  std::string problem;                   // when nothing could be run at all
  std::vector<std::string> not_written;  // why there are no witness files, a sentence each
  std::vector<Finding> failures;         // ways in which runs failed, with a witness of one run each
  uint64_t failed = 0;                   // runs that did
};

// `findings` are those of the candidates, index by index; a proof's finding starts from there.
ProveReport prove(const prediction::TraceIndex& facts,
                  const std::vector<const prediction::Candidate*>& candidates,
                  const std::vector<Finding>& findings, const ProveOptions& options);

}  // namespace cleave::confirm
