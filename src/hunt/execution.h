// One execution of a hunt: along a plan for a candidate, or under a policy; with what it taught.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "confirm/confirm.h"
#include "exec/run.h"
#include "hunt/hunt.h"
#include "hunt/targets.h"

namespace cleave::hunt {

struct Try {
  // Asked for. With a target and no constraints: the target's next plan.
  Target* target = nullptr;
  Policy policy = Policy::Plan;
  uint64_t seed = 0, pct_points = 0;
  std::vector<Constraint> constraints;
  std::string trace;    // kept there; empty: not kept
  bool decide = false;  // the solver's stage too

  // What came of it.
  bool ran = false;
  exec::RunRequest request;
  exec::RunOutcome outcome;
  confirm::Proof proof;  // with a plan
  std::string note;      // why the plan did not show its target
  std::string problem;   // the program could not be run, or its trace not be read
  std::shared_ptr<Lesson> lesson;

  std::string name() const;  // "plan for CLV-3f9a12cc", "random, seed 3"
};

class Executor {
 public:
  // `sites`: the trace of the first run, which is there when a plan is tried.
  Executor(const HuntOptions& options, std::string sites) : options_(options), sites_(std::move(sites)) {}

  // Fills what came of it. Different tries may be under way in different threads.
  void execute(Try& each, double seconds);

 private:
  void along_plan(Try& each, double seconds, const std::string& scratch);
  void under_policy(Try& each, double seconds, const std::string& scratch);
  void finish(Try& each, const exec::RunRequest& request, const exec::RunOutcome& outcome);
  uint64_t trace_limit() const;
  bool is_new(const Plan& plan);

  const HuntOptions& options_;
  std::string sites_;
  std::mutex mutex_;  // of plans_
  std::vector<Plan> plans_;
};

}  // namespace cleave::hunt
