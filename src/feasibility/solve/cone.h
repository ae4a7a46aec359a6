// The cone of influence of a query within a slice: the events that can decide it. Reads matter only if a
// condition, or the guard of the violation, depends on what they return; writes only if such a read may see
// them; a lock only if something that matters happens while it is held.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <map>
#include <vector>

#include "feasibility/solve/feasibility.h"
#include "feasibility/solve/slice.h"

namespace cleave {

class Cone {
 public:
  // O(events of the slice, and accesses of the variables in the cone).
  Cone(const SymbolicTrace& trace, const SliceIndex& index, const Slice& slice,
       const std::vector<std::vector<Section>>& derived, const FeasibilityQuery& query, DataModel model);

  // For no query in particular: what conditions depend on, and these events for their places.
  Cone(const SymbolicTrace& trace, const SliceIndex& index, const Slice& slice,
       const std::vector<std::vector<Section>>& derived, const boost::unordered_flat_set<uint32_t>& marked,
       DataModel model);

  std::span<const uint32_t> events() const { return events_; }  // in trace order
  bool contains(uint32_t event) const { return flags_.contains(event); }
  bool needs(SymbolId symbol) const { return symbols_.contains(raw(symbol)); }
  const Slice& slice() const { return slice_; }
  // What the variable holds may matter.
  bool watches(VariableId variable) const { return variables_.contains(raw(variable)); }
  // Sections that begin in the slice, by lock; locks that exclude nothing are left out.
  const std::map<uint32_t, std::vector<Section>>& sections() const { return sections_; }

  // Events outside the slice that could serve a read, wake or down of the cone. None: the slice is all that
  // matters.
  std::vector<uint32_t> outside() const;

  // Events of the slice that are not in the cone go with the next one of their thread, or with the one before
  // them if they are in one straight run of code with it.
  std::vector<EventIndex> complete(const SliceIndex& index, const std::vector<uint32_t>& order) const;

 private:
  void keep_structure();
  void keep_data();
  void keep_query();
  void keep_locks();
  void need(ExpressionId expression);
  void keep_writers(VariableId variable);
  bool something_inside(const Section& section) const;

  const SymbolicTrace& trace_;
  const SliceIndex& index_;
  const Slice& slice_;
  const std::vector<std::vector<Section>>& derived_;
  const FeasibilityQuery query_;
  const DataModel model_;
  boost::unordered_flat_set<uint32_t> flags_, symbols_, variables_;
  SymbolCollector needed_{trace_.pool()};
  std::vector<uint32_t> open_;  // reads whose writers are still to be kept
  std::vector<uint32_t> events_;
  std::map<uint32_t, std::vector<Section>> sections_;
};

}  // namespace cleave
