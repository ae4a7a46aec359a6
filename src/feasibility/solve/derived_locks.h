// Locks that a program makes by hand: a flag that is only ever set after it was seen free, under one mutex,
// and that only its setter frees (`while (busy) wait; busy = 1; … busy = 0`). In every feasible interleaving
// the stretches from set to free exclude each other, so they are added as sections of a lock: redundant for
// the solver, and without them the proof that a transaction cannot be split is factorial in the number of
// threads.
#pragma once

#include <vector>

#include "feasibility/lift/symbolic_trace.h"
#include "feasibility/solve/slice_index.h"

namespace cleave {

// One list of sections per variable that is such a lock. O(accesses of variables with constant writes).
std::vector<std::vector<Section>> derived_locks(const SymbolicTrace& trace, const SliceIndex& index);

}  // namespace cleave
