#include "base/temporary.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace cleave {
namespace {

TEST(Temporary, WhatDoesNotFitIntoMemoryGoesWhereTheOthersGo) {
  unsetenv("TMPDIR");
  EXPECT_EQ(temporary_pattern("check"), "/tmp/cleave-check-XXXXXX");
  EXPECT_EQ(memory_pattern("check", UINT64_MAX), temporary_pattern("check"));
  EXPECT_TRUE(memory_pattern("check", 1).ends_with("/cleave-check-XXXXXX"));
}

TEST(Temporary, WhoeverSaysWhereIsObeyed) {
  setenv("TMPDIR", "/elsewhere", 1);
  EXPECT_EQ(temporary_pattern("trace"), "/elsewhere/cleave-trace-XXXXXX");
  EXPECT_EQ(memory_pattern("trace", 1), "/elsewhere/cleave-trace-XXXXXX");
  unsetenv("TMPDIR");
}

}  // namespace
}  // namespace cleave
