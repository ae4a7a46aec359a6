#include "analysis/predict/trace_index.h"

namespace cleave::prediction {

Pattern pattern_of(EventKind first, EventKind remote, EventKind second) {
  if (writes(remote)) {
    if (reads(first) && reads(second)) return Pattern::RWR;
    if (writes(first) && reads(second)) return Pattern::WWR;
    if (reads(first) && writes(second)) return Pattern::RWW;
  }
  if (writes(first) && writes(second)) return reads(remote) ? Pattern::WRW : Pattern::WWW;
  return Pattern::None;
}

SharedAccesses::SharedAccesses(const Trace& trace) {
  constexpr uint32_t kNobody = UINT32_MAX, kSeveral = UINT32_MAX - 1;
  size_t variables = trace.variables().size();
  std::vector<uint32_t> owner(variables, kNobody);
  std::vector<bool> written(variables, false);
  for (const Event& event : trace.events()) {
    if (!is_access(event.kind)) continue;
    uint32_t& who = owner[event.object];
    if (who == kNobody) who = raw(event.thread);
    if (who != raw(event.thread)) who = kSeveral;
    if (writes(event.kind)) written[event.object] = true;
  }
  offset_.assign(variables + 1, 0);
  for (const Event& event : trace.events()) {
    if (is_access(event.kind) && owner[event.object] == kSeveral && written[event.object])
      ++offset_[event.object + 1];
  }
  for (size_t v = 1; v <= variables; ++v) offset_[v] += offset_[v - 1];
  events_.resize(offset_[variables]);
  std::vector<uint64_t> next(offset_.begin(), offset_.end() - 1);
  for (size_t e = 0; e < trace.size(); ++e) {
    const Event& event = trace.events()[e];
    if (is_access(event.kind) && owner[event.object] == kSeveral && written[event.object]) {
      events_[next[event.object]++] = static_cast<EventNumber>(e);
    }
  }
}

TraceIndex::TraceIndex(const Trace& trace_of_run, const UnitMap& units_of_run)
    : trace(trace_of_run), units(units_of_run), positions(trace), syncs(trace, positions), accesses(trace) {}

}  // namespace cleave::prediction
