// The symbolic stage from libcleave_symbolic.so, which lies in lib/ beside the folder of this program.
//
// It runs in a process of its own, with what memory there is and no more: the solver and the walk through
// other people's bitcode are the parts that a strange input can bring down, and the findings of the other
// stages must not go with them.
#pragma once

#include "feasibility/stage/symbolic_stage.h"

namespace cleave::cli {

// A function of that library, by its name. An Error when the library, or what it needs, is not there.
Result<void*> symbolic_door(const char* name);

// Done when the stage came to its end. Otherwise why not: the library, or the solver that it needs, is not
// there; it crashed; it was interrupted. What it had decided until then is in the prediction, which has a
// stage of that name in any case but the first.
Status decide_apart(const RecordedTrace& recorded, const feasibility::SymbolicStageOptions& options,
                    prediction::Prediction* prediction);

}  // namespace cleave::cli
