// Every interleaving of every prefix of a small symbolic trace, by running it: memory, locks, conditions,
// semaphores and the program's data as plain values. Shares no code with solve/ but the expressions' text,
// which it evaluates itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "findings/finding.h"
#include "trace/core/trace.h"

namespace cleave::oracle {

// A write that goes to elements[index], where index is what a name was bound to; it cannot run with another
// index.
struct Move {
  std::string index;
  EventIndex read;                 // that bound the name
  std::vector<uint32_t> elements;  // variables
};
using Moves = std::map<uint32_t, Move>;  // by event

// Whether some feasible prefix runs first, remote, second in this order with real conflicts (CTP definition 2
// guards in the states where the accesses take place).
bool feasible(const Trace& trace, EventIndex first, EventIndex remote, EventIndex second, Pattern pattern,
              const Moves& moves = {});

// Whether running exactly this order is possible, and contains the triple as above. `why` says what went
// wrong.
bool runs(const Trace& trace, const std::vector<EventIndex>& order, EventIndex first, EventIndex remote,
          EventIndex second, Pattern pattern, const std::map<std::string, uint64_t>& inputs, std::string* why,
          const Moves& moves = {});

}  // namespace cleave::oracle
