// What a critical section is called: the innermost function that covers all of it.
#include "units/lock_functions.h"

#include <gtest/gtest.h>

#include "units/units.h"

namespace cleave {
namespace {

// update() { mutex_enter(); total = 1; mutex_leave(); }, where mutex_enter() calls low_level_lock().
class LockFunctionsTest : public testing::Test {
 protected:
  SiteId site(const char* function, uint32_t line, const char* file = "a.c") {
    return builder_.add_site({.file = file, .line = line, .function = function});
  }
  ContextId in(ContextId parent, SiteId call) { return builder_.add_context({parent, call}); }
  void add(EventKind kind, uint32_t object, SiteId site, ContextId context) {
    builder_.add({.kind = kind, .thread = thread_, .site = site, .context = context, .object = object});
  }
  std::string unit_of(size_t event) {
    const Trace trace = std::move(builder_).build();
    SetMap sets({}, trace);
    UnitOptions options;
    options.locks = true;
    const UnitMap units = map_units(trace, options, sets);
    return unit_label(trace, units.unit(units.unit_of(EventIndex{event})), units.lock_functions);
  }

  TraceBuilder builder_;
  ThreadId thread_ = builder_.thread("T1");
  SyncId lock_ = builder_.sync("m", SyncKind::Mutex);
  VariableId total_ = builder_.variable("total");
  ContextId top_ = in(kNone<ContextId>, site("main", 9));
};

TEST_F(LockFunctionsTest, ASectionOfOneFunctionIsCalledAfterIt) {
  add(EventKind::Acquire, raw(lock_), site("update", 1), top_);
  add(EventKind::Write, raw(total_), site("update", 2), top_);
  add(EventKind::Release, raw(lock_), site("update", 3), top_);
  EXPECT_EQ(unit_of(1), "update (critical section)");
}

TEST_F(LockFunctionsTest, FunctionsThatTakeTheLockForTheirCallerDoNotNameIt) {
  const ContextId enter = in(top_, site("update", 1)), leave = in(top_, site("update", 3));
  const ContextId low = in(enter, site("mutex_enter", 20));
  add(EventKind::Acquire, raw(lock_), site("low_level_lock", 30), low);
  add(EventKind::Write, raw(total_), site("update", 2), top_);
  add(EventKind::Release, raw(lock_), site("mutex_leave", 25), leave);
  EXPECT_EQ(unit_of(1), "update (critical section)");
}

// What is accessed in mutex_enter itself is in the section of its caller too; and one that was cut off by the
// end of the trace is named by what was learned from others.
TEST_F(LockFunctionsTest, OneSectionThatEndedTeachesHowOthersAreCalled) {
  const ContextId enter = in(top_, site("update", 1)), leave = in(top_, site("update", 3));
  add(EventKind::Acquire, raw(lock_), site("mutex_enter", 20), enter);
  add(EventKind::Release, raw(lock_), site("mutex_leave", 25), leave);
  const ContextId other = in(top_, site("report", 5));
  add(EventKind::Acquire, raw(lock_), site("mutex_enter", 20), other);
  add(EventKind::Write, raw(total_), site("mutex_enter", 21), other);
  EXPECT_EQ(unit_of(3), "report (critical section)");
}

TEST_F(LockFunctionsTest, GuardsOfTheLibraryAndOfTheProgram) {
  const ContextId construct = in(top_, site("Account::add", 1)), destroy = in(top_, site("Account::add", 3));
  const ContextId library = in(construct, site("Guard::Guard", 20));
  add(EventKind::Acquire, raw(lock_), site("std::mutex::lock", 100, "/usr/include/c++/12/bits/std_mutex.h"),
      library);
  add(EventKind::Write, raw(total_), site("Account::add", 2), top_);
  add(EventKind::Release, raw(lock_), site("Guard::~Guard", 25), destroy);
  EXPECT_EQ(unit_of(1), "Account::add (critical section)");
}

// A callee that releases what its caller took covers nothing: the caller does.
TEST_F(LockFunctionsTest, TheLockMayBeReleasedBelow) {
  const ContextId below = in(top_, site("update", 3));
  add(EventKind::Acquire, raw(lock_), site("update", 1), top_);
  add(EventKind::Write, raw(total_), site("finish", 40), below);
  add(EventKind::Release, raw(lock_), site("finish", 41), below);
  EXPECT_EQ(unit_of(1), "update (critical section)");
}

TEST_F(LockFunctionsTest, WithoutPlacesItIsCalledAfterTheLock) {
  add(EventKind::Acquire, raw(lock_), kNone<SiteId>, kNone<ContextId>);
  add(EventKind::Write, raw(total_), kNone<SiteId>, kNone<ContextId>);
  EXPECT_EQ(unit_of(1), "section of m");
}

}  // namespace
}  // namespace cleave
