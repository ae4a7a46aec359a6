#include "order/lock_states.h"

#include <gtest/gtest.h>

#include "trace/text/text.h"

namespace cleave::order {
namespace {

struct Fixture {
  explicit Fixture(const char* text)
      : trace(parse_text_trace(text, "test").value()), positions(trace), locks(trace, positions) {}
  bool together(EventNumber a, EventNumber b) const { return locks.compatible(locks.at(a), locks.at(b)); }
  Trace trace;
  ThreadPositions positions;
  LockStates locks;
};

TEST(LockStates, ACommonLockExcludes) {
  Fixture f(R"(
T1 acquire m
T1 read x 0
T1 release m
T2 acquire m
T2 read x 0
T2 release m
T2 read x 0
)");
  EXPECT_FALSE(f.together(1, 4));
  EXPECT_TRUE(f.together(1, 6));
}

TEST(LockStates, ReadersDoNotExcludeReaders) {
  Fixture f(R"(
T1 acquire-shared m
T1 read x 0
T1 release-shared m
T2 acquire-shared m
T2 read x 0
T2 release-shared m
T3 acquire m
T3 read x 0
T3 release m
)");
  EXPECT_TRUE(f.together(1, 4));
  EXPECT_FALSE(f.together(1, 7));
}

TEST(LockStates, ReentrantLocksAreHeldUntilTheLastRelease) {
  Fixture f(R"(
T1 acquire m
T1 acquire m
T1 release m
T1 read x 0
T1 release m
T2 acquire m
T2 read x 0
T2 release m
)");
  EXPECT_FALSE(f.together(3, 6));
}

// Disjoint locks, and yet never together: each has taken the other's lock since it took its own.
TEST(LockStates, AcquisitionHistoriesExclude) {
  Fixture f(R"(
T1 acquire a
T1 acquire b
T1 release b
T1 read x 0
T1 release a
T2 acquire b
T2 acquire a
T2 release a
T2 read x 0
T2 release b
)");
  EXPECT_FALSE(f.together(3, 8));
}

TEST(LockStates, OneSidedHistoryDoesNotExclude) {
  Fixture f(R"(
T1 acquire a
T1 acquire b
T1 release b
T1 read x 0
T1 release a
T2 acquire b
T2 read x 0
T2 release b
)");
  EXPECT_TRUE(f.together(3, 6));
}

TEST(LockStates, WaitingGivesTheMutexAway) {
  Fixture f(R"(
T1 acquire m
T1 wait c m
T2 acquire m
T2 read x 0
T2 signal c
T2 release m
T1 wake c m
T1 read x 0
T1 release m
)");
  EXPECT_TRUE(f.together(1, 3));
  EXPECT_FALSE(f.together(7, 3));
}

// Lock of T1 released by T2: a hand-over, not mutual exclusion.
TEST(LockStates, ALockThatOthersReleaseIsIgnored) {
  Fixture f(R"(
T1 acquire m
T1 read x 0
T2 release m
T2 acquire m
T2 read x 0
T2 release m
)");
  EXPECT_TRUE(f.together(1, 4));
  EXPECT_TRUE(f.locks.ignored(f.trace.events()[0].object));
}

TEST(LockStates, HandOverHandHasNoFreePause) {
  Fixture f(R"(
T1 acquire a
T1 read x 0
T1 acquire b
T1 release a
T1 write x 1
T1 release b
T2 acquire a
T2 acquire b
T2 write x 2
T2 release b
T2 release a
)");
  PauseSetId pauses = f.locks.pauses(0, f.positions.of(1), f.positions.of(4));
  EXPECT_FALSE(f.locks.compatible(pauses, f.locks.at(8)));
  EXPECT_TRUE(f.locks.compatible(pauses, f.locks.at(6))) << "with a alone T2 fits in while T1 has only b";
}

}  // namespace
}  // namespace cleave::order
