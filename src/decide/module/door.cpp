// What the tool finds in libcleave_symbolic.so.
#include "decide/symbolic_stage.h"
#include "dependence/bitcode/extract.h"

extern "C" __attribute__((visibility("default"))) void cleave_decide_symbolically(
    const cleave::RecordedTrace* recorded, const cleave::decide::SymbolicStageOptions* options,
    cleave::prediction::Prediction* prediction, cleave::Status* status) {
  *status = cleave::decide::decide_symbolically(*recorded, *options, prediction);
}

extern "C" __attribute__((visibility("default"))) void cleave_flow_of_program(
    const cleave::Program* program, cleave::dependence::ProgramFlow* flow) {
  *flow = cleave::dependence::flow_of_program(*program);
}
