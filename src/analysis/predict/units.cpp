#include "analysis/predict/units.h"

namespace cleave::prediction {

Units annotated_units(const Trace& trace) {
  struct Open {
    std::vector<UnitNameId> stack;  // kNone for begins that are declared not atomic
    uint32_t unit = kNoUnit;
  };
  Units units;
  units.of_event.assign(trace.size(), kNoUnit);
  std::vector<Open> threads(trace.threads().size());
  auto start = [&units](Open& open) {
    open.unit = static_cast<uint32_t>(units.names.size());
    units.names.push_back(open.stack.front());
  };
  for (size_t e = 0; e < trace.size(); ++e) {
    const Event& event = trace.events()[e];
    Open& open = threads[raw(event.thread)];
    if (event.kind == EventKind::Begin) {
      open.stack.push_back(event.unit());
      if (open.stack.size() == 1) start(open);
    }
    units.of_event[e] = open.unit;
    if (event.kind == EventKind::End && !open.stack.empty()) {
      open.stack.pop_back();
      if (open.stack.empty()) open.unit = kNoUnit;
    }
    if (event.kind == EventKind::Wait && open.unit != kNoUnit) start(open);
  }
  return units;
}

}  // namespace cleave::prediction
