// The views of the program's sections, path by path, and what each section touches in all.
#pragma once

#include <map>
#include <vector>

#include "analysis/static/accesses.h"
#include "analysis/static/sections.h"
#include "analysis/static/views.h"

namespace cleave::static_analysis {

// A single atomic operation outside of all sections counts as one: such "sections" are numbered behind the
// others.
struct Contents {
  std::vector<const Access*> accesses;
  VariableSet reads, writes;
};

class SectionViews {
 public:
  // `paths`: one view for each combination of branches within a section, up to kMostPaths; else one for all.
  SectionViews(const Accesses& accesses, const Sections& sections, ControlFlows& flows, bool paths);

  const Contents& contents(SectionId id) const { return contents_[id]; }
  const std::vector<View>& views(SectionId id) const { return views_[id]; }
  // Whether some section writes both in one execution.
  bool written_together(VarId a, VarId b) const { return together_.count({a, b}) != 0; }
  SectionId count() const { return static_cast<SectionId>(contents_.size()); }
  uint64_t merged() const { return merged_; }  // sections with too many paths

 private:
  static constexpr size_t kMostPaths = 32;
  void walk(SectionId id, const Sections& sections, const Accesses& accesses, ControlFlows& flows);
  View whole(SectionId id) const;

  std::vector<Contents> contents_;
  std::vector<std::vector<View>> views_;
  std::set<std::pair<VarId, VarId>> together_;
  uint64_t merged_ = 0;
};

}  // namespace cleave::static_analysis
