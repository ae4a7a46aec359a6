// The search for needed switches, with the program replaced by a rule that says which sets of switches fail.
#include "hunt/minimize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace cleave::hunt {
namespace {

std::vector<Switch> numbered(size_t count) {
  std::vector<Switch> switches;
  for (size_t i = 0; i < count; ++i) switches.push_back({"0.1", i + 1, Handover::Preempted, "0.2"});
  return switches;
}

std::set<uint64_t> numbers(const std::vector<Switch>& switches) {
  std::set<uint64_t> result;
  for (const Switch& each : switches) result.insert(each.points);
  return result;
}

Fails needs(std::set<uint64_t> needed) {
  return [needed](const std::vector<Switch>& chosen) -> Result<bool> {
    std::set<uint64_t> given = numbers(chosen);
    return std::includes(given.begin(), given.end(), needed.begin(), needed.end());
  };
}

TEST(Minimize, FindsTheOneSwitchAmongManyInFewRuns) {
  for (uint64_t at : {1, 2, 777, 99'999, 100'000}) {
    Result<Minimized> result = minimize(numbered(100'000), needs({at}));
    ASSERT_TRUE(result);
    EXPECT_EQ(numbers(result.value().needed), std::set<uint64_t>{at});
    EXPECT_TRUE(result.value().minimal);
    EXPECT_LE(result.value().runs, 20u);
  }
}

TEST(Minimize, FindsTwoSwitchesAmongManyWithinFortyRuns) {
  Result<Minimized> result = minimize(numbered(100'000), needs({31'000, 64'000}));
  ASSERT_TRUE(result);
  EXPECT_EQ(numbers(result.value().needed), (std::set<uint64_t>{31'000, 64'000}));
  EXPECT_LE(result.value().runs, 40u);
}

TEST(Minimize, AFailureWithoutSwitchesNeedsNone) {
  Result<Minimized> result = minimize(numbered(10), needs({}));
  ASSERT_TRUE(result);
  EXPECT_TRUE(result.value().always);
  EXPECT_TRUE(result.value().needed.empty());
}

TEST(Minimize, AFailureThatDoesNotComeBackIsNotExplained) {
  Result<Minimized> result = minimize(numbered(10), needs({11}));
  ASSERT_TRUE(result);
  EXPECT_FALSE(result.value().reproduced);
  EXPECT_TRUE(result.value().needed.empty());
}

TEST(Minimize, AnErrorEndsTheSearch) {
  unsigned runs = 0;
  Result<Minimized> result = minimize(numbered(10), [&](const std::vector<Switch>&) -> Result<bool> {
    if (++runs == 3) return Error{"prog", "is gone"};
    return runs == 1;
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(runs, 3u);
}

TEST(Minimize, WithoutEnoughRunsTheResultStillFails) {
  MinimizeOptions options;
  for (options.most_runs = 2; options.most_runs < 12; ++options.most_runs) {
    Result<Minimized> result = minimize(numbered(64), needs({5, 40}), options);
    ASSERT_TRUE(result);
    EXPECT_LE(result.value().runs, options.most_runs);
    std::set<uint64_t> left = numbers(result.value().needed);
    EXPECT_TRUE(left.contains(5) && left.contains(40)) << options.most_runs;
    if (left.size() > 2) {
      EXPECT_FALSE(result.value().minimal);
    }
  }
}

// Rules in which more switches may hide a failure: the result must fail and lose the failure with any one
// less.
TEST(Minimize, OnAnyRuleTheResultFailsAndEachSwitchIsNecessary) {
  std::mt19937 random(7);
  unsigned failing = 0;
  for (int round = 0; round < 3000; ++round) {
    const size_t count = 1 + random() % 9;
    std::vector<bool> fails(size_t{1} << count);
    for (size_t i = 0; i < fails.size(); ++i) fails[i] = random() % 3 == 0;
    fails[fails.size() - 1] = true;
    fails[0] = false;
    auto mask = [](const std::vector<Switch>& chosen) {
      size_t bits = 0;
      for (const Switch& each : chosen) bits |= size_t{1} << (each.points - 1);
      return bits;
    };
    Result<Minimized> result =
        minimize(numbered(count), [&](const std::vector<Switch>& chosen) -> Result<bool> {
          return static_cast<bool>(fails[mask(chosen)]);
        });
    ASSERT_TRUE(result);
    ASSERT_TRUE(result.value().reproduced);
    ASSERT_TRUE(result.value().minimal);
    size_t needed = mask(result.value().needed);
    EXPECT_TRUE(fails[needed]);
    ++failing;
    for (size_t bit = 1; bit <= needed; bit <<= 1) {
      if ((needed & bit) != 0) {
        EXPECT_FALSE(fails[needed & ~bit]);
      }
    }
  }
  EXPECT_EQ(failing, 3000u);
}

}  // namespace
}  // namespace cleave::hunt
