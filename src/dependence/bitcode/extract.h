// From the bitcode that a binary carries to the tables of dependence/flow.h. Sees LLVM.
#pragma once

#include "base/result.h"
#include "dependence/flow.h"
#include "program/program.h"

namespace cleave::dependence {

// Time and memory: those of reading the bitcode, plus origins × instructions of the largest function. Modules
// whose bitcode cannot be read are left out, with a remark.
ProgramFlow flow_of_program(const Program& program);

}  // namespace cleave::dependence
