#include "analysis/predict/single.h"

namespace cleave::prediction {

bool excluded_by_order(const TraceIndex& facts, const Triple& triple) {
  return facts.must->before(triple.remote, triple.first) || facts.must->before(triple.second, triple.remote);
}

bool excluded_by_locks(TraceIndex& facts, const Triple& triple) {
  order::PauseSetId pauses = facts.locks->pauses(facts.thread(triple.first), facts.positions.of(triple.first),
                                                 facts.positions.of(triple.second));
  return !facts.locks->compatible(pauses, facts.locks->at(triple.remote));
}

}  // namespace cleave::prediction
