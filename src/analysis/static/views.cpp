#include "analysis/static/views.h"

#include <algorithm>
#include <iterator>

namespace cleave::static_analysis {

std::vector<PartialView> procedure_views(const std::vector<View>& views, AccessKind kind) {
  std::set<PartialView> result;
  for (const View& view : views)
    result.insert({view.section, kind == AccessKind::Read ? view.reads : view.writes});
  return {result.begin(), result.end()};
}

std::vector<PartialView> plain_views(const std::vector<View>& views) {
  std::set<PartialView> result;
  for (const View& view : views) {
    VariableSet both = view.reads;
    both.insert(view.writes.begin(), view.writes.end());
    result.insert({view.section, std::move(both)});
  }
  return {result.begin(), result.end()};
}

std::vector<PartialView> maximal_views(const std::vector<PartialView>& views) {
  std::vector<PartialView> result;
  for (const PartialView& view : views) {
    if (view.variables.empty()) continue;
    bool contained = false, repeated = false;
    for (const PartialView& other : views) {
      const bool within = std::includes(other.variables.begin(), other.variables.end(),
                                        view.variables.begin(), view.variables.end());
      contained |= within && other.variables.size() > view.variables.size();
    }
    for (const PartialView& kept : result) repeated |= kept.variables == view.variables;
    if (!contained && !repeated) result.push_back(view);
  }
  return result;
}

VariableSet overlap(const PartialView& maximal, const PartialView& view) {
  VariableSet both;
  std::set_intersection(maximal.variables.begin(), maximal.variables.end(), view.variables.begin(),
                        view.variables.end(), std::inserter(both, both.end()));
  return both;
}

bool chain(const VariableSet& a, const VariableSet& b) {
  return std::includes(a.begin(), a.end(), b.begin(), b.end()) ||
         std::includes(b.begin(), b.end(), a.begin(), a.end());
}

std::vector<Incompatible> incompatible(const std::vector<PartialView>& views, const PartialView& maximal,
                                       AccessKind maximal_kind, const CommonCorrelation& correlated) {
  std::vector<Incompatible> result;
  for (size_t i = 0; i < views.size(); ++i) {
    const VariableSet one = overlap(maximal, views[i]);
    if (one.empty()) continue;
    for (size_t j = i + 1; j < views.size(); ++j) {
      const VariableSet two = overlap(maximal, views[j]);
      if (two.empty() || chain(one, two)) continue;
      const bool reads = maximal_kind == AccessKind::Write;
      if (reads && correlated && !correlated(views[i], one, views[j], two)) continue;
      result.push_back({maximal, views[i], views[j], maximal_kind, one, two});
    }
  }
  return result;
}

std::vector<Incompatible> inconsistent(const std::vector<View>& p1, const std::vector<View>& p2,
                                       const CommonCorrelation& correlated) {
  std::vector<Incompatible> result;
  const std::vector<PartialView> writes = procedure_views(p2, AccessKind::Write);
  for (const PartialView& maximal : maximal_views(procedure_views(p1, AccessKind::Read))) {
    for (Incompatible& found : incompatible(writes, maximal, AccessKind::Read, correlated))
      result.push_back(std::move(found));
  }
  const std::vector<PartialView> reads = procedure_views(p2, AccessKind::Read);
  for (const PartialView& maximal : maximal_views(procedure_views(p1, AccessKind::Write))) {
    for (Incompatible& found : incompatible(reads, maximal, AccessKind::Write, correlated))
      result.push_back(std::move(found));
  }
  return result;
}

}  // namespace cleave::static_analysis
