#include "base/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace cleave {
namespace {

TEST(Workers, EachNumberOnce) {
  std::atomic<unsigned> sum = 0, calls = 0;
  run_workers(5, [&](unsigned number) {
    sum += number;
    ++calls;
  });
  EXPECT_EQ(sum, 0u + 1 + 2 + 3 + 4);
  EXPECT_EQ(calls, 5u);
}

TEST(Workers, NoneAskedForIsOne) {
  unsigned calls = 0;
  run_workers(0, [&](unsigned) { ++calls; });
  EXPECT_EQ(calls, 1u);
}

// Whichever thread throws, the others end and the caller gets to catch it.
TEST(Workers, WhatOneThrowsReachesTheCaller) {
  for (unsigned thrower : {0u, 2u}) {
    std::atomic<unsigned> ended = 0;
    EXPECT_THROW(run_workers(3,
                             [&](unsigned number) {
                               if (number == thrower) throw std::bad_alloc();
                               ++ended;
                             }),
                 std::bad_alloc);
    EXPECT_EQ(ended, 2u);
  }
}

}  // namespace
}  // namespace cleave
