// What the values of one location say about order: a value that only one unit leaves is read after that unit,
// and a unit that reads it and writes another ends it. Private to check/.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "judge/conditions.h"

namespace cleave::judge {

// What a unit does to one location, seen from outside.
struct Effect {
  std::optional<uint64_t> needs;   // read before the unit writes it itself
  std::optional<uint64_t> leaves;  // its last write
};

class VersionChain {
 public:
  VersionChain(const Case& judged, VariableId variable) : case_(judged), variable_(variable) {}

  // Whether no serial order can have `earlier` before `later`, both of which touch the location:
  //  - `later` writes it: then it must come after whoever reads and replaces what `earlier` leaves, and so on
  //  down the
  //    chain; impossible if one of them must come after `later`, or if the chain ends in the final value;
  //  - `earlier` writes it: then it must come before whoever left what `later` reads, and so on up the chain;
  //  impossible
  //    if one of them must come before `earlier`, or if the chain begins with the initial value.
  //  - `later` reads what `earlier`, or someone up the chain from it, had read and replaced before.
  // Follows at most a few hundred links.
  bool excludes(BlockId earlier, BlockId later) const {
    return already_replaced(earlier, later) || excluded_below(earlier, later) ||
           excluded_above(earlier, later);
  }

  // Whether someone else read a value that the unit writes only on the way to another, and that nobody
  // leaves.
  bool exposes_intermediate(BlockId block) const;

  Effect effect_of(BlockId block, EventIndex access) const;

 private:
  bool already_replaced(BlockId earlier, BlockId later) const;
  bool excluded_below(BlockId earlier, BlockId later) const;
  bool excluded_above(BlockId earlier, BlockId later) const;
  // The only unit that leaves the value, with one of its accesses; nothing if there are none or several.
  std::optional<EventIndex> only_leaver(uint64_t value) const;
  bool anyone_leaves(uint64_t value) const;
  // Whether a unit that must precede `before` has read the value from outside: then so must whoever left it.
  bool thread_saw(uint64_t value, BlockId before) const;
  std::optional<EventIndex> access_in(BlockId block) const;

  const Case& case_;
  VariableId variable_;
};

}  // namespace cleave::judge
