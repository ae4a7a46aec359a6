// What `cleave predict` leaves undecided, in words and with what to do about it.
#pragma once

#include <string>
#include <vector>

#include "analysis/predict/predict.h"
#include "cli/common.h"

namespace cleave::cli {

struct UndecidedOptions {
  bool symbolic = true;        // the stage was asked for, and the trace has data for it
  std::string stage_problem;   // why that stage did not come to its end; empty: it did
  double solver_seconds = 60;  // that it had
};

// Whether no stage and no run has decided the candidate. `verdict` is the last word on it.
bool undecided(const prediction::Candidate& candidate, Verdict verdict);

// "undecided: 22 candidates (time); to go on: cleave predict --solver-seconds 600 pigz.cleave", or empty.
// `verdicts` is by candidate; `words` is the command line as typed.
std::string undecided_sentence(const prediction::Prediction& prediction, const std::vector<Verdict>& verdicts,
                               const UndecidedOptions& options, const std::vector<std::string>& words);

}  // namespace cleave::cli
