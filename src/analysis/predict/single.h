// What order and locks say of a single triple; survey.h says the same of all of them in bulk.
#pragma once

#include "analysis/predict/trace_index.h"

namespace cleave::prediction {

// The remote access must come before the first or after the second in every reordering. Needs facts.must.
// O(log).
bool excluded_by_order(const TraceIndex& facts, const Triple& triple);

// Wherever the unit's thread is paused between its accesses, mutual exclusion keeps the remote thread from
// its access then. Needs facts.locks.
bool excluded_by_locks(TraceIndex& facts, const Triple& triple);

}  // namespace cleave::prediction
