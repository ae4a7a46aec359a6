// What the tool finds in libcleave_symbolic.so.
#include "dependence/bitcode/extract.h"
#include "feasibility/stage/symbolic_stage.h"

extern "C" __attribute__((visibility("default"))) void cleave_decide_symbolically(
    const cleave::RecordedTrace* recorded, const cleave::feasibility::SymbolicStageOptions* options,
    cleave::prediction::Prediction* prediction, cleave::Status* status) {
  *status = cleave::feasibility::decide_symbolically(*recorded, *options, prediction);
}

extern "C" __attribute__((visibility("default"))) void cleave_flow_of_program(
    const cleave::Program* program, cleave::dependence::ProgramFlow* flow) {
  *flow = cleave::dependence::flow_of_program(*program);
}
