// Locks that a program makes from atomics: which uses are taken for one, and from when on.
#include "trace/recorded/own_locks.h"

#include <gtest/gtest.h>

#include <vector>

namespace cleave {
namespace {

using Step = OwnLocks::Step;

struct Uses {
  OwnLocks locks;
  Step update(uint32_t thread, uint64_t address, uint64_t before, uint64_t after,
              MemoryOrder order = MemoryOrder::Acquire) {
    return locks.see({ThreadId{thread}, address, EventKind::Update, order, before, after}).step;
  }
  Step write(uint32_t thread, uint64_t address, uint64_t value, MemoryOrder order = MemoryOrder::Release) {
    return locks.see({ThreadId{thread}, address, EventKind::Write, order, value, value}).step;
  }
  Step read(uint32_t thread, uint64_t address, uint64_t value, MemoryOrder order = MemoryOrder::Acquire) {
    return locks.see({ThreadId{thread}, address, EventKind::Read, order, value, value}).step;
  }
};

constexpr uint64_t kLock = 0x1000, kOther = 0x2000;

TEST(OwnLocks, TestAndSetIsALockOnceASecondThreadTakesIt) {
  Uses uses;
  EXPECT_EQ(uses.update(1, kLock, 0, 1), Step::None);
  EXPECT_EQ(uses.update(2, kLock, 1, 1), Step::None) << "found it taken";
  EXPECT_EQ(uses.write(1, kLock, 0), Step::None);
  EXPECT_EQ(uses.update(2, kLock, 0, 1), Step::Acquires);
  EXPECT_EQ(uses.read(1, kLock, 1), Step::None);
  EXPECT_EQ(uses.write(2, kLock, 0), Step::Releases);
  EXPECT_EQ(uses.update(1, kLock, 0, 1), Step::Acquires) << "the first thread too, from now on";
  EXPECT_EQ(uses.write(1, kLock, 0), Step::Releases);
}

TEST(OwnLocks, TheValueOfATakenLockMayTellWhoHasIt) {
  Uses uses;
  uses.update(1, kLock, 7, 101);
  uses.write(1, kLock, 7);
  EXPECT_EQ(uses.update(2, kLock, 7, 102), Step::Acquires);
  EXPECT_EQ(uses.write(2, kLock, 7), Step::Releases);
}

TEST(OwnLocks, ATicketLockIsOne) {
  for (bool adds : {false, true}) {
    Uses uses;
    auto give_back = [&](uint32_t thread, uint64_t ticket) {
      return adds ? uses.update(thread, kOther, ticket, ticket + 1, MemoryOrder::AcqRel)
                  : uses.write(thread, kOther, ticket + 1);
    };
    EXPECT_EQ(uses.update(1, kLock, 0, 1, MemoryOrder::Relaxed), Step::None);
    EXPECT_EQ(uses.read(1, kOther, 0), Step::None);
    EXPECT_EQ(uses.update(2, kLock, 1, 2, MemoryOrder::Relaxed), Step::None);
    EXPECT_EQ(uses.read(2, kOther, 0), Step::None) << "not yet its turn";
    EXPECT_EQ(give_back(1, 0), Step::None);
    EXPECT_EQ(uses.read(2, kOther, 1), Step::Acquires);
    EXPECT_EQ(give_back(2, 1), Step::Releases);
  }
}

TEST(OwnLocks, CountersAndFlagsAreNone) {
  Uses counter;
  counter.update(1, kLock, 0, 1, MemoryOrder::SeqCst);
  counter.update(2, kLock, 1, 2, MemoryOrder::SeqCst);
  counter.write(1, kLock, 0, MemoryOrder::SeqCst);
  EXPECT_EQ(counter.update(2, kLock, 0, 1, MemoryOrder::SeqCst), Step::None);

  Uses references;  // up and down by updates
  references.update(1, kLock, 1, 2, MemoryOrder::AcqRel);
  references.update(1, kLock, 2, 1, MemoryOrder::AcqRel);
  EXPECT_EQ(references.update(2, kLock, 1, 2, MemoryOrder::AcqRel), Step::None);

  Uses relaxed;  // orders nothing
  relaxed.update(1, kLock, 0, 1, MemoryOrder::Relaxed);
  relaxed.write(1, kLock, 0, MemoryOrder::Relaxed);
  EXPECT_EQ(relaxed.update(2, kLock, 0, 1, MemoryOrder::Relaxed), Step::None);

  Uses reset_by_another;
  reset_by_another.update(1, kLock, 0, 1);
  reset_by_another.write(2, kLock, 0);
  EXPECT_EQ(reset_by_another.update(2, kLock, 0, 1), Step::None);
}

TEST(OwnLocks, WhatTurnsOutToBeNoneIsGivenBackOnce) {
  Uses uses;
  uses.update(1, kLock, 0, 1);
  uses.write(1, kLock, 0);
  EXPECT_EQ(uses.update(2, kLock, 0, 1), Step::Acquires);
  OwnLocks::Seen seen = uses.locks.see({ThreadId{1}, kLock, EventKind::Write, MemoryOrder::Release, 0, 0});
  EXPECT_EQ(seen.step, Step::Ends);
  EXPECT_EQ(seen.holder, ThreadId{2});
  EXPECT_EQ(uses.write(2, kLock, 0), Step::None);
  EXPECT_EQ(uses.update(1, kLock, 0, 1), Step::None);
}

TEST(OwnLocks, FreedMemoryBeginsAnew) {
  Uses uses;
  uses.update(1, kLock, 0, 1);
  uses.update(2, kLock, 1, 2);  // none
  uses.locks.forget(kLock - 8, 64);
  uses.update(1, kLock, 0, 1);
  uses.write(1, kLock, 0);
  EXPECT_EQ(uses.update(2, kLock, 0, 1), Step::Acquires);
}

}  // namespace
}  // namespace cleave
