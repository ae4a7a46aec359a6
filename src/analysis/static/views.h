// Views and view consistency: definitions 5 to 9 of the paper, over variables and processes that are numbers.
// Nothing here knows LLVM, so that each definition can be tested by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

namespace cleave::static_analysis {

enum class AccessKind : uint8_t { Read, Write };

using VariableSet = std::set<uint32_t>;

// What one execution of a section accesses. `section` is Γ of the paper: the atomic method behind the view.
struct View {
  uint32_t section = 0;
  VariableSet reads, writes;
  friend auto operator<=>(const View&, const View&) = default;
};

// One kind of access of a view.
struct PartialView {
  uint32_t section = 0;
  VariableSet variables;
  friend auto operator<=>(const PartialView&, const PartialView&) = default;
};

// Definition 5: V_r(p), V_w(p).
std::vector<PartialView> procedure_views(const std::vector<View>& views, AccessKind kind);
// Artho: both kinds as one.
std::vector<PartialView> plain_views(const std::vector<View>& views);
// Definition 6: those that are no proper part of another. Of equal ones the first; empty ones are left out.
std::vector<PartialView> maximal_views(const std::vector<PartialView>& views);
// Definition 7, for one view: v_m ∩ v.
VariableSet overlap(const PartialView& maximal, const PartialView& view);
bool chain(const VariableSet& a, const VariableSet& b);

// Two views of a process that take apart what a maximal view of another takes together.
struct Incompatible {
  PartialView maximal, first, second;
  AccessKind maximal_kind = AccessKind::Read;
  VariableSet first_overlap, second_overlap;
};

// Definition 2, where the reads of these two overlaps are in these sections.
using CommonCorrelation = std::function<bool(const PartialView& first, const VariableSet& first_overlap,
                                             const PartialView& second, const VariableSet& second_overlap)>;

// Definition 8 for one maximal view: comp_w(p, m_r) with writes, comp_r(p, m_w) with reads and a correlation;
// all pairs for which it does not hold. `correlated` may be null: then every pair of reads counts (Artho).
std::vector<Incompatible> incompatible(const std::vector<PartialView>& views, const PartialView& maximal,
                                       AccessKind maximal_kind, const CommonCorrelation& correlated);

// Definition 9 for one ordered pair of processes, p1 with the maximal views and p2.
std::vector<Incompatible> inconsistent(const std::vector<View>& p1, const std::vector<View>& p2,
                                       const CommonCorrelation& correlated);

}  // namespace cleave::static_analysis
