// Runs the cone of a query event by event with concrete values, every interleaving that matters, and
// remembers the states it has been in. Where threads exclude each other by their data (tickets, flags,
// counters), the states are few and the proofs of a solver are long; where the states are many, a solver is
// the better tool. The two are asked in turn (feasibility.cpp).
//
// Steps that no other thread can notice are taken at once and not interleaved: a release, a post, a fork, a
// condition, an access of what no other thread will still touch. Moving such a step to the front changes no
// run that follows.
#pragma once

#include "feasibility/solve/cone.h"

namespace cleave {

class ImpliedOrder;

struct Exploration {
  enum class Outcome : uint8_t {
    Found,      // `order` runs into the triple
    Exhausted,  // no prefix of any interleaving of the cone does
    GaveUp,     // more states than allowed, or something in the cone has no concrete value
  };
  Outcome outcome = Outcome::GaveUp;
  std::vector<uint32_t> order;  // events of the cone, up to the second access
  uint64_t states = 0;
};

// Where the run may go from one thread to another. What is not found between runs of straight code may still
// be found anywhere; what is found there can be executed under control.
enum class Switches : uint8_t { Anywhere, BetweenRuns };

// Which thread is tried first in a state. That decides how soon something is found, and nothing else.
enum class Guide : uint8_t {
  Wanted,       // the thread that has the triple's next access
  Recorded,     // as recorded; behind its first access the unit waits for the remote one
  RemoteFirst,  // the same, but behind the first access the remote thread goes before all others
};

// `order` is that of the cone and the triple, if it is known: what it rules out is not tried.
// Inputs keep their recorded values, so with inputs in the cone it may find but not exhaust. Memory is 16
// bytes a state; time about a microsecond a step.
Exploration explore(const SymbolicTrace& trace, const SliceIndex& index, const Cone& cone,
                    const FeasibilityQuery& query, const FeasibilityOptions& options, uint64_t most_states,
                    Switches switches = Switches::Anywhere, Guide guide = Guide::Wanted,
                    const ImpliedOrder* order = nullptr);

}  // namespace cleave
