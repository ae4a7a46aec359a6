// Candidates as findings: names, source lines, threads, values and locks, for report/.
#pragma once

#include "analysis/predict/predict.h"
#include "findings/finding.h"
#include "units/sets.h"

namespace cleave::prediction {

// Gives every candidate an id that no other finding has, so that the same candidate has the same one whatever
// is shown and run.
void assign_ids(const TraceIndex& facts, Prediction& prediction, SetMap& sets);

// Findings of the candidates in their order; with `dropped` also those that a stage ruled out. Accesses stand
// in the predicted order, with the values they have there if a reordering was built, else with their recorded
// values. Needs facts.locks for the locks held.
Findings to_findings(const TraceIndex& facts, const Prediction& prediction, SetMap& sets, bool dropped);

// One finding, for a triple of the trace of `facts`.
Finding to_finding(const TraceIndex& facts, const Candidate& candidate, SetMap& sets);

// An access as a person reads it. `locks` may be null: then none are named.
AccessReport access_report(const Trace& trace, EventNumber event, Role role, const order::LockStates* locks);

}  // namespace cleave::prediction
