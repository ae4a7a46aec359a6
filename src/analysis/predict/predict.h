// From one trace: which three-access violations exist in other interleavings of the same run. Stage by stage,
// each counted; docs/predict.md says what each stage means and promises.
//
//   TraceIndex facts(trace, units);
//   Prediction prediction = predict(facts, {});
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/predict/reordering.h"
#include "analysis/predict/survey.h"
#include "analysis/predict/trace_index.h"

namespace cleave::prediction {

struct PredictOptions {
  bool order = true, locks = true, filter = true, exact = true;  // patterns is always there
  size_t representatives = 16;            // event triples for three program locations; see `adapt`
  bool adapt = true;                      // keep up to 256 of them where the trace is short
  uint64_t check_budget = 2'000'000'000;  // events that checking reorderings may replay
  std::function<double()> now;            // seconds, for StageReport; may be empty
};

// ByValue is an answer of stage exact: a reordering exists in which some read reads another write of the same
// value, or another value that nothing in it depends on. It makes the candidate feasible and does not count
// as kept.
enum class Mark : uint8_t { NotAsked, Kept, ByValue, Dropped };

// Three program locations and what is known of their event triples.
struct Candidate {
  std::string id;  // of its finding, once all candidates are known (assign_ids)
  Pattern pattern = Pattern::None;
  Reached reached = Reached::Patterns;
  uint64_t triples = 0;                 // event triples at these locations that came as far as `reached`
  std::vector<Triple> representatives;  // best first: those that survived most stages, then the nearest
  Mark filter = Mark::NotAsked, exact = Mark::NotAsked;
  std::optional<Reordering>
      reordering;        // of representatives.front(), when exact kept it, by value or strictly
  std::string symbolic;  // sat, unsat, unknown: why; empty when that stage did not look at it
  std::vector<EventNumber> symbolic_order;  // of representatives.front() when sat: up to its second access
  std::map<std::string, uint64_t> inputs;   // that the symbolic order needs
  // Of unsat: the order of accesses is possible, and only definition 2's guards stand against it, because
  // equal values are written. The whole execution may still be non-atomic (two increments that both read 0):
  // a run can tell.
  bool only_equal_values = false;

  const Triple& triple() const { return representatives.front(); }
  // On the recorded path, by the solver and nothing to the contrary.
  bool refuted() const { return symbolic == "unsat" && !only_equal_values && verdict() != Verdict::Feasible; }
  // Feasible: a reordering was built and checked. Candidate: nothing ruled it out. Infeasible: a stage did.
  Verdict verdict() const;
};

struct Prediction {
  std::vector<Candidate> candidates;  // in a defined order: by representative event triple
  std::vector<StageReport> stages;
  std::vector<std::string> remarks;  // what was cut short, one sentence each
};

// Builds what is missing in `facts`. Near-linear in the trace up to stage filter; exact costs what building
// and replaying its reorderings costs, at most check_budget events. When interrupted(), the stages stop where
// they are.
Prediction predict(TraceIndex& facts, const PredictOptions& options);

}  // namespace cleave::prediction
