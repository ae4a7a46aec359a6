#include "base/result.h"

#include <gtest/gtest.h>

namespace cleave {
namespace {

TEST(Result, HoldsAValueOrASentence) {
  Result<int> good = 7;
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(good.value(), 7);
  Result<int> bad = Error{"trace.cleave: byte 8123", "truncated block"};
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().sentence(), "trace.cleave: byte 8123: truncated block");
}

TEST(ResultDeathTest, AskingAnErrorForItsValueIsABrokenInvariant) {
  Result<int> bad = Error{"", "no such file"};
  EXPECT_DEATH(bad.value(), "no such file");
}

}  // namespace
}  // namespace cleave
