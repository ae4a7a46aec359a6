// Many queries on one short trace at once: its states are looked through a single time, and for every access
// that is a remote one it is noted where the other threads can be when it happens. A triple whose unit is
// never between its two accesses then is infeasible. The converse does not hold: what is possible here has to
// be asked for itself.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <span>
#include <vector>

#include "feasibility/solve/feasibility.h"
#include "feasibility/solve/slice_index.h"

namespace cleave {

class CoReachability {
 public:
  CoReachability() = default;
  // Looks at no more than `most_states` states. Memory: 16 bytes a state, and for every remote access one bit
  // for each event of another thread.
  CoReachability(const SymbolicTrace& trace, const SliceIndex& index,
                 const std::vector<std::vector<Section>>& derived, std::span<const FeasibilityQuery> queries,
                 const FeasibilityOptions& options, uint64_t most_states);

  // False: it is infeasible. True for queries that it was not made for, or when the states were too many.
  bool possible(const FeasibilityQuery& query) const;
  uint64_t states() const { return states_; }
  bool exhausted() const { return exhausted_; }

 private:
  class Search;
  bool exhausted_ = false;
  uint64_t states_ = 0;
  struct Place {
    uint32_t thread, number;  // of the step in its thread
  };
  boost::unordered_flat_map<uint32_t, Place> step_of_;    // by event
  boost::unordered_flat_map<uint32_t, uint32_t> number_;  // remote event → index into places_
  std::vector<std::vector<std::vector<bool>>> places_;    // by remote, by thread: steps taken → seen so
};

}  // namespace cleave
