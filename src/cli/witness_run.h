// From a witness to a run of its program: who may run what is decided here, for every verb that takes a
// witness.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/common.h"
#include "exec/run.h"
#include "schedule/witness.h"

namespace cleave::cli {

struct WitnessRunOptions {
  std::string witness;  // its file
  bool trust = false;   // although other users could have changed the program or the witness
  bool quiet = false;   // what runs is not printed
};

// The program of the witness as it was run then, checked (exec/trust.h) and printed; or the one given after
// `--`, in our environment. The policy is left to the caller.
Result<exec::RunRequest> run_of_witness(const Witness& witness, const WitnessRunOptions& options,
                                        const ProgramLine& program);

}  // namespace cleave::cli
