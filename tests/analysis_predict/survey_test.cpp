// Where triples are too many to make each, a few are looked at.
#include <gtest/gtest.h>

#include <string>

#include "support.h"

namespace cleave::prediction {
namespace {

// Of 40 pairs of main only the fourth, between the fork and the join, can have T2 in between.
TEST(Survey, ASingleOpenTripleAmongManyIsFound) {
  std::string text;
  for (int pair = 0; pair < 40; ++pair) {
    if (pair == 3) text += "main fork T2\n";
    text += "main begin u\nmain read x 0 @a.c:1\nmain read x 0 @a.c:2\nmain end\n";
    if (pair == 3) text += "T2 write x 0 @a.c:9\nmain join T2\n";
  }
  PredictOptions options;
  options.adapt = false;
  options.representatives = 1;
  Predicted p(text, options);
  ASSERT_EQ(p.prediction.candidates.size(), 1u);
  const Candidate& candidate = p.prediction.candidates[0];
  EXPECT_EQ(candidate.reached, Reached::Locks);
  EXPECT_EQ(candidate.triples, 1u);
  EXPECT_EQ(candidate.representatives.size(), 1u);
  EXPECT_EQ(candidate.verdict(), Verdict::Feasible);
}

}  // namespace
}  // namespace cleave::prediction
