// The symbolic stage from libcleave_symbolic.so, which lies in lib/ beside the folder of this program.
#pragma once

#include "decide/symbolic_stage.h"

namespace cleave::cli {

// As decide::decide_symbolically; an Error too when the library, or the solver that it needs, is not there.
Status decide_in_module(const RecordedTrace& recorded, const decide::SymbolicStageOptions& options,
                        prediction::Prediction* prediction);

}  // namespace cleave::cli
