// Definitions 5 to 9 of MoTH on small sets of views.
#include "analysis/static/views.h"

#include <gtest/gtest.h>

namespace cleave::static_analysis {
namespace {

View view(uint32_t section, VariableSet reads, VariableSet writes) {
  return {section, std::move(reads), std::move(writes)};
}

constexpr uint32_t x = 1, y = 2, z = 3;
const CommonCorrelation kCorrelated = [](auto&&...) { return true; };
const CommonCorrelation kUncorrelated = [](auto&&...) { return false; };

TEST(Definition5, ReadsAndWritesAreApart) {
  const std::vector<View> views{view(0, {x, y}, {z})};
  EXPECT_EQ(procedure_views(views, AccessKind::Read), (std::vector<PartialView>{{0, {x, y}}}));
  EXPECT_EQ(procedure_views(views, AccessKind::Write), (std::vector<PartialView>{{0, {z}}}));
}

TEST(Definition6, MaximalViewsAreNoPartOfAnother) {
  const std::vector<PartialView> views{{0, {x}}, {1, {x, y}}, {2, {z}}, {3, {}}, {4, {x, y}}};
  EXPECT_EQ(maximal_views(views), (std::vector<PartialView>{{1, {x, y}}, {2, {z}}}));
}

TEST(Definition7, OverlapIsTheIntersection) {
  EXPECT_EQ(overlap({0, {x, y}}, {1, {y, z}}), (VariableSet{y}));
  EXPECT_TRUE(overlap({0, {x}}, {1, {y}}).empty());
}

TEST(Definition8, WritesMustFormAChain) {
  const PartialView maximal{9, {x, y}};
  EXPECT_TRUE(incompatible({{0, {x}}, {1, {x, y}}}, maximal, AccessKind::Read, kUncorrelated).empty());
  const std::vector<Incompatible> found =
      incompatible({{0, {x}}, {1, {y}}}, maximal, AccessKind::Read, kUncorrelated);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].first.section, 0u);
  EXPECT_EQ(found[0].second.section, 1u);
}

TEST(Definition8, ReadsMustAlsoMeetInAWrite) {
  const PartialView maximal{9, {x, y}};
  EXPECT_EQ(incompatible({{0, {x}}, {1, {y}}}, maximal, AccessKind::Write, kCorrelated).size(), 1u);
  EXPECT_TRUE(incompatible({{0, {x}}, {1, {y}}}, maximal, AccessKind::Write, kUncorrelated).empty());
  // Artho asks for no correlation.
  EXPECT_EQ(incompatible({{0, {x}}, {1, {y}}}, maximal, AccessKind::Write, nullptr).size(), 1u);
}

TEST(Definition9, ReadsAreComparedWithWritesAndTheReverse) {
  const std::vector<View> setter{view(0, {}, {x, y})}, getters{view(1, {x}, {}), view(2, {y}, {})};
  EXPECT_EQ(inconsistent(setter, getters, kCorrelated).size(), 1u);
  EXPECT_TRUE(inconsistent(setter, getters, kUncorrelated).empty());
  // Two readers never disturb each other, and neither do two writers in this rule.
  const std::vector<View> reader{view(0, {x, y}, {})}, writers{view(1, {}, {x}), view(2, {}, {y})};
  EXPECT_TRUE(inconsistent(reader, getters, kCorrelated).empty());
  EXPECT_TRUE(inconsistent(setter, writers, kCorrelated).empty());
  EXPECT_EQ(inconsistent(reader, writers, kUncorrelated).size(), 1u);
}

TEST(Artho, KindsOfAccessesAreOne) {
  EXPECT_EQ(plain_views({view(0, {x}, {y})}), (std::vector<PartialView>{{0, {x, y}}}));
}

}  // namespace
}  // namespace cleave::static_analysis
