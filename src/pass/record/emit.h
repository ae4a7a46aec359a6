// Turns plans into code. The inline code of a segment is the one that abi/record.h describes.
//
// The outcomes of branches are kept in a register while a function runs: taken from __cleave_thread.branches
// at its entry and after each call (which leaves 1 there), put back before it leaves with outcomes that no
// record has taken. So a loop without calls counts its branches without touching memory, and a crash loses
// only what no record held.
#pragma once

#include <vector>

#include "pass/record/plan.h"

namespace cleave {

// The module's array of segment descriptors, which every record points into.
llvm::GlobalVariable* make_segments(llvm::Module& module, const SiteTables& tables);
void emit(FunctionPlan& plan, llvm::GlobalVariable& segments);

}  // namespace cleave
