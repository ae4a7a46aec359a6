#include "judge/value_flow.h"

#include <unordered_map>

namespace cleave::judge {

// What each unit does to the location, in the order of their threads, threads in the order of their first
// access.
std::vector<std::vector<ValueFlows::Effect>> ValueFlows::effects(VariableId variable) const {
  std::vector<std::vector<Effect>> threads;
  std::unordered_map<uint32_t, size_t> number;  // of the thread
  for (EventIndex index : memory_.accesses(variable)) {
    const Event& event = trace_.event(index);
    auto [it, fresh] = number.try_emplace(raw(event.thread), threads.size());
    if (fresh) threads.emplace_back();
    std::vector<Effect>& own = threads[it->second];
    if (const BlockId block = blocks_.of(index); own.empty() || own.back().block != block) {
      own.push_back({block, std::nullopt, std::nullopt});
      if (reads(event.kind)) own.back().needs = memory_.value_read(index);
    }
    if (writes(event.kind)) own.back().leaves = event.value;
  }
  return threads;
}

// Units that every serial order has first, one after the other: what the main thread does before it starts
// others. Only the last value that they leave is there when the rest begins.
size_t ValueFlows::preamble(const std::vector<std::vector<Effect>>& threads) const {
  size_t length = 0;
  for (const Effect& unit : threads[0]) {
    for (size_t other = 1; other < threads.size(); ++other) {
      if (!blocks_.must_precede(unit.block, threads[other].front().block)) return length;
    }
    ++length;
  }
  return length;
}

const ValueFlows::Location& ValueFlows::location(VariableId variable) const {
  std::unique_ptr<Location>& slot = locations_[raw(variable)];
  if (slot != nullptr) return *slot;
  slot = std::make_unique<Location>();
  const std::vector<std::vector<Effect>> threads = effects(variable);
  const size_t first = threads.empty() ? 0 : preamble(threads);
  uint64_t value = memory_.initial(variable);
  for (size_t t = 0; t < threads.size(); ++t) {
    for (size_t u = 0; u < threads[t].size(); ++u) {
      const Effect& unit = threads[t][u];
      if (!unit.leaves) continue;
      if (t == 0 && u < first) {
        value = *unit.leaves;
      } else if (unit.leaves != unit.needs) {
        ++(*slot)[*unit.leaves].left;
        if (unit.needs) ++(*slot)[*unit.needs].replaced;
      }
    }
  }
  ++(*slot)[value].left;
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

}  // namespace cleave::judge
