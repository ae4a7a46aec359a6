#include "order/sync_order.h"

#include <gtest/gtest.h>

#include "trace/text/text.h"

namespace cleave::order {
namespace {

// Event numbers count the lines after `init`, from 0.
struct Fixture {
  explicit Fixture(const char* text)
      : trace(parse_text_trace(text, "test").value()),
        positions(trace),
        syncs(trace, positions),
        must(trace, positions, syncs) {}
  Trace trace;
  ThreadPositions positions;
  SyncIndex syncs;
  SyncOrder must;
};

TEST(SyncOrder, ForkAndJoinOrder) {
  Fixture f(R"(
main write x 1
main fork T1
T1 read x 1
main write y 1
main join T1
main read x 1
)");
  EXPECT_TRUE(f.must.before(0, 2));
  EXPECT_TRUE(f.must.before(2, 5));
  EXPECT_FALSE(f.must.before(2, 3));
  EXPECT_FALSE(f.must.before(3, 2));
}

TEST(SyncOrder, LocksOrderNothing) {
  Fixture f(R"(
T1 acquire m
T1 write x 1
T1 release m
T2 acquire m
T2 read x 1
T2 release m
)");
  EXPECT_FALSE(f.must.before(1, 4));
}

TEST(SyncOrder, MemoryIsAllocatedBeforeItIsUsed) {
  Fixture f(R"(
T1 write x 1
T1 alloc node 8
T1 write node.key 1
T2 read node.key 1
)");
  EXPECT_TRUE(f.must.before(1, 3));
  EXPECT_TRUE(f.must.before(0, 3));
  EXPECT_FALSE(f.must.before(2, 3)) << "without a lock it may be used half made";
}

TEST(SyncOrder, WhatIsMadeUnderALockIsUsedAfterTheSection) {
  Fixture f(R"(
T1 acquire m
T1 alloc node 8
T1 write node.key 1
T1 release m
T1 write node.key 2
T2 acquire m
T2 read node.key 2
T2 release m
)");
  EXPECT_TRUE(f.must.before(2, 6));
  EXPECT_TRUE(f.must.before(3, 6));
  EXPECT_FALSE(f.must.before(4, 6));
}

TEST(SyncOrder, WhatIsMadeUnderAnotherLockIsUsedAnyTimeAfterTheAllocation) {
  Fixture f(R"(
T1 acquire-shared m
T1 acquire n
T1 alloc node 8
T1 write node.key 1
T1 release n
T1 release-shared m
T2 acquire-shared m
T2 read node.key 1
T2 release-shared m
)");
  EXPECT_TRUE(f.must.before(2, 7));
  EXPECT_FALSE(f.must.before(3, 7));
}

TEST(SyncOrder, AWaitEndsTheSectionThatAllocated) {
  Fixture f(R"(
T1 acquire m
T1 alloc node 8
T1 wait c m
T2 acquire m
T2 read node.key 0
T2 signal c
T2 release m
T1 wake c m
T1 write node.key 1
T1 release m
)");
  EXPECT_TRUE(f.must.before(2, 4));
}

TEST(SyncOrder, FreedMemoryOrdersNothing) {
  Fixture f(R"(
T1 alloc node 8
T1 free node
T2 read node.key 0
)");
  EXPECT_FALSE(f.must.before(0, 2));
}

TEST(SyncOrder, TheOnlySignalComesBeforeTheWake) {
  Fixture f(R"(
T2 acquire m
T2 wait c m
T1 write x 1
T1 signal c
T2 wake c m
T2 read x 1
)");
  EXPECT_TRUE(f.must.before(2, 5));
}

TEST(SyncOrder, OneOfTwoSignalsIsEnough) {
  Fixture f(R"(
T2 acquire m
T2 wait c m
T1 write x 1
T1 signal c
T2 wake c m
T2 read x 1
T3 signal c
)");
  EXPECT_FALSE(f.must.before(2, 5)) << "T3's signal could have woken it";
}

TEST(SyncOrder, WhatAllSignalsHaveInCommonComesBefore) {
  Fixture f(R"(
main write x 1
T2 acquire m
T2 wait c m
main fork T1
main fork T3
T1 signal c
T3 signal c
T2 wake c m
T2 read x 1
)");
  EXPECT_TRUE(f.must.before(0, 8));
  EXPECT_FALSE(f.must.before(5, 8));
}

TEST(SyncOrder, ASignalBeforeTheWaitDoesNotCount) {
  Fixture f(R"(
T1 signal c
T1 fork T2
T2 acquire m
T2 wait c m
T1 write x 1
T1 signal c
T2 wake c m
)");
  EXPECT_TRUE(f.must.before(4, 6)) << "the first signal is over when T2 begins";
}

TEST(SyncOrder, TimedOutAndSpuriousWakesNeedNoSignal) {
  Fixture f(R"(
T2 acquire m
T2 wait c m
T2 wake c m
T1 signal c
)");
  EXPECT_FALSE(f.must.before(3, 2));
}

TEST(SyncOrder, SemaphoreNeedsItsPosts) {
  Fixture f(R"(
T1 write x 1
T1 post s
T1 write y 1
T1 post s
T2 down s
T2 read x 1
T2 down s
T2 read y 1
)");
  EXPECT_TRUE(f.must.before(0, 5));
  EXPECT_FALSE(f.must.before(2, 5));
  EXPECT_TRUE(f.must.before(2, 7));
}

TEST(SyncOrder, WithTwoPostersNeitherIsNeeded) {
  Fixture f(R"(
T1 write x 1
T1 post s
T3 post s
T2 down s
T2 read x 1
)");
  EXPECT_FALSE(f.must.before(0, 4));
}

TEST(SyncOrder, BarrierSeparatesItsPhases) {
  Fixture f(R"(
T1 write x 1
T1 arrive b
T2 arrive b
T1 pass b
T2 pass b
T2 read x 1
T1 write y 1
)");
  EXPECT_TRUE(f.must.before(0, 5));
  EXPECT_FALSE(f.must.before(6, 5));
}

TEST(SyncOrder, OnceEndsBeforeItIsSeen) {
  Fixture f(R"(
T1 once-begin o
T1 write x 1
T1 once-end o
T2 once-seen o
T2 read x 1
)");
  EXPECT_TRUE(f.must.before(1, 4));
}

TEST(SyncOrder, AnAttemptThatWasLeftComesBeforeTheNext) {
  Fixture f(R"(
T1 once-begin o
T1 write x 1
T1 once-abort o
T2 once-begin o
T2 read x 1
T2 once-end o
)");
  EXPECT_TRUE(f.must.before(1, 4));
}

}  // namespace
}  // namespace cleave::order
