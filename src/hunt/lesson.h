// What one execution teaches: its candidates, those that happened in it, and how it ended.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/predict/predict.h"
#include "base/result.h"
#include "confirm/confirm.h"
#include "exec/run.h"
#include "trace/recorded/reader.h"
#include "units/find.h"
#include "units/sets.h"

namespace cleave::hunt {

// How traces are looked at: the same for every execution of a hunt. The functions must be safe to call from
// several threads.
struct LookOptions {
  std::function<Result<units::UnitSources>(const RecordedTrace&)> units;
  SetOptions sets;
  bool final_writes = true;
  std::function<double()> now;
};

// A loaded trace with everything that planning needs of it.
struct Lesson {
  RecordedTrace recorded;
  units::UnitSources sources;
  std::unique_ptr<SetMap> sets;
  std::unique_ptr<UnitMap> units;
  std::unique_ptr<prediction::TraceIndex> facts;
  prediction::Prediction prediction;
  std::vector<Finding> findings;                        // by candidate
  std::vector<std::string> keys;                        // by candidate: what it is called in all runs
  std::vector<std::optional<confirm::Proof>> observed;  // by candidate: it happened in this very run
};

// `decide`, if it is given, is asked about the candidates before they become findings.
Result<std::shared_ptr<Lesson>> learn(
    const std::string& trace, const LookOptions& options,
    const std::function<void(const RecordedTrace&, prediction::Prediction&)>& decide);

// The plan's weaker form, for a run under the policy rf: the remote access comes after the first one and
// before the second.
std::vector<Constraint> relaxed(const Lesson& lesson, const prediction::Candidate& candidate);

}  // namespace cleave::hunt
