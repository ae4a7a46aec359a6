// What a model of the solver says would happen, made into a trace: the events in the model's order, with the
// values that the program's data gives them, computed here once more from nothing but the expressions. check/
// then says whether memory and synchronization allow it, before the program is run for it.
#pragma once

#include <map>
#include <span>
#include <string>

#include "base/result.h"
#include "feasibility/lift/symbolic_trace.h"

namespace cleave {

// `order` is in program order for each thread and begins where the threads begin. Inputs not named keep their
// recorded values; accesses of what code outside writes too are left out. An Error names the first event at
// which its thread would leave the recorded path. Linear in the order and in the tables of the trace.
Result<Trace> predicted_run(const SymbolicTrace& symbolic, std::span<const EventIndex> order,
                            const std::map<std::string, uint64_t>& inputs);

}  // namespace cleave
