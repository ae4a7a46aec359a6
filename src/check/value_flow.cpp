#include "check/value_flow.h"

#include <optional>
#include <unordered_map>

namespace cleave::check {

const ValueFlows::Location& ValueFlows::location(VariableId variable) const {
  std::unique_ptr<Location>& slot = locations_[raw(variable)];
  if (slot != nullptr) return *slot;
  slot = std::make_unique<Location>();
  struct Open {
    BlockId block = kNone<BlockId>;
    std::optional<uint64_t> needs, leaves;
  };
  std::unordered_map<uint32_t, Open> open;  // by thread: its unit at present
  auto close = [&](const Open& unit) {
    if (!unit.leaves || unit.leaves == unit.needs) return;
    ++(*slot)[*unit.leaves].left;
    if (unit.needs) ++(*slot)[*unit.needs].replaced;
  };
  for (EventIndex index : memory_.accesses(variable)) {
    const Event& event = trace_.event(index);
    Open& unit = open[raw(event.thread)];
    if (const BlockId block = blocks_.of(index); unit.block != block) {
      if (unit.block != kNone<BlockId>) close(unit);
      unit = {block, std::nullopt, std::nullopt};
      if (reads(event.kind)) unit.needs = memory_.value_read(index);
    }
    if (writes(event.kind)) unit.leaves = event.value;
  }
  for (const auto& [thread, unit] : open) close(unit);
  ++(*slot)[memory_.initial(variable)].left;
  return *slot;
}

Flow ValueFlows::flow(VariableId variable, uint64_t value) const {
  const Location& values = location(variable);
  auto it = values.find(value);
  return it == values.end() ? Flow{} : it->second;
}

bool ValueFlows::overdrawn(VariableId variable, uint64_t value, bool final_writes) const {
  const Flow count = flow(variable, value);
  const bool last = final_writes && memory_.final(variable) == value;
  return count.replaced + (last ? 1 : 0) > count.left;
}

}  // namespace cleave::check
