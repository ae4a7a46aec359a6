// How often each value of a location came and went, unit by unit: what counting alone says about serial
// orders. Private to check/.
//
// In a serial order the location holds a value for a while, then another. A unit that reads a value and
// leaves another ends one such while; a unit that leaves the value without having found it there begins one,
// and so does the start of the run. So no value can be replaced (and be the last) more often than it was
// left. A lost update breaks this rule: two units replace one value that was written once, whatever happens
// before and afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "judge/blocks.h"
#include "judge/memory_index.h"

namespace cleave::judge {

struct Flow {
  uint32_t replaced = 0;  // units that read it first and leave another value
  uint32_t left = 0;  // units that leave it and did not read it first; what is there before the threads start
                      // counts as one
};

// For one choice of blocks. A location costs its accesses, once.
class ValueFlows {
 public:
  ValueFlows(const Trace& trace, const MemoryIndex& memory, const Blocks& blocks)
      : trace_(trace), memory_(memory), blocks_(blocks) {}

  // The value was replaced more often than it was left.
  bool overdrawn(VariableId variable, uint64_t value, bool final_writes) const;
  Flow flow(VariableId variable, uint64_t value) const;

 private:
  using Location = std::unordered_map<uint64_t, Flow>;
  struct Effect {
    BlockId block;
    std::optional<uint64_t> needs, leaves;
  };
  const Location& location(VariableId variable) const;
  std::vector<std::vector<Effect>> effects(VariableId variable) const;
  size_t preamble(const std::vector<std::vector<Effect>>& threads) const;

  const Trace& trace_;
  const MemoryIndex& memory_;
  const Blocks& blocks_;
  mutable std::unordered_map<uint32_t, std::unique_ptr<Location>> locations_;
};

}  // namespace cleave::judge
