#include "cli/symbolic_stage.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "solve/feasibility.h"
#include "symbolic/walk.h"
#include "trace/load.h"
#include "trace/reader.h"

namespace cleave::cli {
namespace {

using prediction::Candidate;
using prediction::Prediction;
using prediction::Triple;

// So few event triples that all are decided, and counted as the paper counts them.
constexpr size_t kFewQuestions = 128;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The symbolic trace together with what it refers to.
struct Lifted {
  std::unique_ptr<RecordedTrace> recorded;  // of a binary trace
  std::unique_ptr<SymbolicTrace> symbolic;
  WalkReport walk;
};

// The binary that was recorded, from what the runtime wrote about its process; empty if it did not say.
std::string binary_of(const TraceFile& file) {
  auto process = nlohmann::json::parse(file.text(CLEAVE_CHUNK_PROCESS), nullptr, /*allow_exceptions=*/false);
  if (!process.is_object() || !process.contains("program") || !process["program"].is_string()) return "";
  return process["program"].get<std::string>();
}

Result<Lifted> lift(const std::string& path, const Trace& trace, const SymbolicStageOptions& options) {
  std::ifstream file(path, std::ios::binary);
  std::string head(64, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  Lifted lifted;
  if (form_of(head) == TraceForm::Binary) {
    Result<RecordedTrace> recorded = load_recorded_trace(path);
    if (!recorded) return recorded.error();
    lifted.recorded = std::make_unique<RecordedTrace>(std::move(recorded).value());
    if (!lifted.recorded->origins.empty()) {
      std::string program = options.program.empty() ? binary_of(*lifted.recorded->file) : options.program;
      Result<SymbolicTrace> walked = walk_recorded_paths(*lifted.recorded, program, &lifted.walk);
      if (!walked) return walked.error();
      lifted.symbolic = std::make_unique<SymbolicTrace>(std::move(walked).value());
      return lifted;
    }
  }
  // Without any expression every read would have to keep its value: then unsatisfiable proves nothing.
  bool data = false;
  for (size_t e = 0; e < trace.size() && !data; ++e) data = trace.symbolic(EventIndex{e}) != nullptr;
  if (!data) return Error{"", "the trace does not say what the program does with its values"};
  Result<SymbolicTrace> annotated = lift_annotations(trace);
  if (!annotated) return annotated.error();
  lifted.symbolic = std::make_unique<SymbolicTrace>(std::move(annotated).value());
  return lifted;
}

void note_walk(const WalkReport& walk, StageReport* stage, std::vector<std::string>* remarks) {
  if (walk.threads == 0) return;
  stage->counts["branches"] = walk.branches;
  stage->counts["conditions"] = walk.branches_symbolic;
  stage->counts["shared stores"] = walk.shared_writes;
  stage->counts["shared stores symbolic"] = walk.shared_writes_symbolic;
  stage->counts["values compared"] = walk.values_compared;
  stage->counts["values that differ"] = walk.mismatches;
  stage->counts["concretized"] = walk.concretized;
  remarks->insert(remarks->end(), walk.remarks.begin(), walk.remarks.end());
}

// Asks about what is unsatisfiable again, without definition 2's guards, for the sake of a run. Only one
// event triple a candidate: this is a reason to try, not an answer.
class EqualValues {
 public:
  EqualValues(SymbolicTrace& trace, FeasibilityOptions options) : trace_(trace), options_(options) {
    options_.same_value_is_violation = true;
  }

  bool ask(Candidate* candidate) {
    if (!checker_) checker_.emplace(trace_, options_);
    const Triple triple = candidate->triple();
    Feasibility got = checker_->decide(
        {EventIndex{triple.first}, EventIndex{triple.remote}, EventIndex{triple.second}, candidate->pattern});
    if (got.answer != Answer::Feasible) return false;
    candidate->only_equal_values = true;
    for (EventIndex event : got.order)
      candidate->symbolic_order.push_back(static_cast<prediction::EventNumber>(raw(event)));
    candidate->inputs = std::move(got.inputs);
    return true;
  }

 private:
  SymbolicTrace& trace_;
  FeasibilityOptions options_;
  std::optional<FeasibilityChecker> checker_;
};

}  // namespace

Status decide_symbolically(const std::string& path, const Trace& trace, const SymbolicStageOptions& options,
                           Prediction* prediction) {
  double start = now();
  Result<Lifted> lifted = lift(path, trace, options);
  if (!lifted) return lifted.error();
  StageReport stage;
  stage.name = "symbolic";
  note_walk(lifted.value().walk, &stage, &prediction->remarks);
  FeasibilityOptions solver;
  if (options.model == "cam") solver.model = DataModel::Ignored;
  if (options.model == "mcm") solver.model = DataModel::Recorded;
  FeasibilityChecker checker(*lifted.value().symbolic, solver);
  EqualValues equal_values(*lifted.value().symbolic, solver);
  uint64_t unsat = 0, unknown = 0, equal = 0;
  size_t questions = 0;
  for (const Candidate& candidate : prediction->candidates) {
    if (candidate.reached == prediction::Reached::Locks) questions += candidate.representatives.size();
  }
  const bool every_triple = options.every_triple || questions <= kFewQuestions;
  for (Candidate& candidate : prediction->candidates) {
    if (candidate.reached != prediction::Reached::Locks) continue;
    bool all_decided = candidate.triples <= candidate.representatives.size();
    for (size_t i = 0; i < candidate.representatives.size(); ++i) {
      if (candidate.symbolic == "sat" && !every_triple) break;
      if (now() - start > options.seconds) {
        if (candidate.symbolic.empty()) candidate.symbolic = "unknown: the time for this stage is used up";
        all_decided = false;
        break;
      }
      const Triple triple = candidate.representatives[i];
      Feasibility got = checker.decide({EventIndex{triple.first}, EventIndex{triple.remote},
                                        EventIndex{triple.second}, candidate.pattern});
      if (got.answer == Answer::Feasible) {
        ++stage.triples;
        if (candidate.symbolic == "sat") continue;
        candidate.symbolic = "sat";
        for (EventIndex event : got.order)
          candidate.symbolic_order.push_back(static_cast<prediction::EventNumber>(raw(event)));
        candidate.inputs = std::move(got.inputs);
        std::swap(candidate.representatives[0], candidate.representatives[i]);
      } else if (got.answer == Answer::Unknown) {
        if (candidate.symbolic.empty()) candidate.symbolic = "unknown: " + got.why;
        all_decided = false;
      }
    }
    if (candidate.symbolic.empty()) {
      candidate.symbolic = all_decided ? "unsat" : "unknown: not every triple at these places was looked at";
    }
    if (candidate.symbolic == "unsat" && options.equal_values && now() - start <= options.seconds) {
      equal += equal_values.ask(&candidate);
    }
    stage.sites += candidate.symbolic == "sat";
    unsat += candidate.symbolic == "unsat";
    unknown += candidate.symbolic.starts_with("unknown");
  }
  stage.counts["unsat"] = unsat;
  stage.counts["unknown"] = unknown;
  if (equal != 0) stage.counts["unsat for equal values alone"] = equal;
  stage.seconds = now() - start;
  prediction->stages.push_back(std::move(stage));
  return Done{};
}

}  // namespace cleave::cli
