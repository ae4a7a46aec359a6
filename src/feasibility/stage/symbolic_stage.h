// The symbolic stage of `cleave predict`: what the cheap stages leave is decided with the program's data.
//
// This room is a library of its own, libcleave_symbolic.so, which the tool loads when the stage is asked for:
// it is all that needs the solver and LLVM, so every other command works, and starts quickly, without them.
#pragma once

#include <functional>
#include <string>

#include "analysis/predict/predict.h"
#include "base/progress.h"
#include "base/result.h"
#include "trace/recorded/reader.h"

namespace cleave::feasibility {

struct SymbolicStageOptions {
  bool every_triple = false;  // decide every representative, not only up to the first that is feasible
  std::string model = "ctp";  // or cam, mcm: see DataModel
  bool equal_values =
      false;            // ask whether writes of equal values are all that makes a candidate unsatisfiable
  double seconds = 60;  // for all candidates together
  std::string program;  // the binary, where it is not where the trace says
  Progress* progress = nullptr;  // told what has been decided
  // Called when something is known of a candidate (its place in the prediction), and again if that changes.
  // Whoever runs the stage in another process has it so even if the stage does not come to its end.
  std::function<void(size_t)> decided;
};

// Decides each candidate that mutual exclusion left and sets its `symbolic` fields; adds a stage and remarks.
// A recorded trace is walked through its program's bitcode; a text trace (without file and origins) has its
// data in it. An Error when there is no data to be had; the prediction is then as before.
Status decide_symbolically(const RecordedTrace& recorded, const SymbolicStageOptions& options,
                           prediction::Prediction* prediction);

// The module's one door, by this name.
inline constexpr const char* kDoor = "cleave_decide_symbolically";
using Door = void (*)(const RecordedTrace*, const SymbolicStageOptions*, prediction::Prediction*, Status*);

}  // namespace cleave::feasibility
