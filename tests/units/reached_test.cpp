// What an object reaches through its pointers, and whose that is.
#include <gtest/gtest.h>

#include "units/units.h"

namespace cleave {
namespace {

// Two accounts, two states and a part; each with a field. Accesses at `through` are made through what the
// method's object points to, those at `plain` in any other way.
class Reached : public testing::Test {
 protected:
  Reached() {
    for (const char* name : {"a1", "a2", "s1", "s2", "p"}) {
      const std::string type = *name == 'a' ? "Account" : *name == 's' ? "State" : "Part";
      const uint64_t address = 0x100 * (objects_.size() + 1);
      objects_.push_back(b_.add_object({.name = name, .type = type, .address = address, .size = 8}));
      variables_.push_back(b_.add_variable({.name = std::string(name) + ".x",
                                            .address = address,
                                            .size = 8,
                                            .object = objects_.back(),
                                            .field = "x"}));
    }
  }
  size_t number(std::string_view name) const {
    size_t i = 0;
    while (b_.tables().object(objects_[i]).name != name) ++i;
    return i;
  }
  void begin(const char* thread, UnitNameId unit, std::string_view self = "") {
    Event e{.kind = EventKind::Begin, .thread = b_.thread(thread)};
    e.object = raw(unit);
    if (!self.empty()) e.object2 = raw(objects_[number(self)]);
    b_.add(e);
  }
  void touch(const char* thread, std::string_view object, SiteId site) {
    Event e{.kind = EventKind::Write, .thread = b_.thread(thread), .site = site};
    e.object = raw(variables_[number(object)]);
    b_.add(e);
  }
  void reach(const char* thread, std::string_view object) { touch(thread, object, through_); }
  void touch(const char* thread, std::string_view object) { touch(thread, object, plain_); }
  void end(const char* thread) { b_.end(thread); }
  // Each access as "object's set, unit".
  std::vector<std::string> answers() {
    Trace trace = std::move(b_).build();
    SetMap sets({}, trace);
    UnitOptions options;
    options.methods = options.locks = true;
    LockFunctions lock_functions(trace);
    UnitTracker tracker(options, sets, trace, lock_functions);
    std::vector<std::string> lines;
    for (size_t i = 0; i < trace.size(); ++i) {
      const Event& e = trace.events()[i];
      if (!is_access(e.kind)) {
        tracker.feed(e, EventIndex{i});
        continue;
      }
      const SetMap::Member member = tracker.member(e);
      const UnitTracker::Cover& cover = tracker.cover(e, member.set, EventIndex{i});
      lines.push_back(
          std::string(sets.info(member.set).name) + ", " +
          (cover.unit == nullptr ? "nobody" : unit_label(trace, cover.unit->unit, lock_functions)) +
          (cover.additional ? "+" : ""));
    }
    return lines;
  }

  TraceBuilder b_;
  std::vector<ObjectId> objects_;
  std::vector<VariableId> variables_;
  SiteId through_ = b_.add_site({.file = "a.cpp", .line = 1, .through_own = true});
  SiteId plain_ = b_.add_site({.file = "a.cpp", .line = 2});
  UnitNameId take_ =
      b_.add_unit_name({.name = "Account::take", .source = UnitSource::Method, .type = "Account"});
  UnitNameId private_ =
      b_.add_unit_name({.name = "Account::check", .source = UnitSource::Function, .type = "Account"});
  UnitNameId change_ =
      b_.add_unit_name({.name = "State::change", .source = UnitSource::Method, .type = "State"});
  UnitNameId get_ = b_.add_unit_name(
      {.name = "State::get", .source = UnitSource::Method, .type = "State", .flags = UnitNameInfo::kGetter});
  UnitNameId cursor_ = b_.add_unit_name({.name = "Cursor::go",
                                         .source = UnitSource::Method,
                                         .type = "Cursor",
                                         .flags = UnitNameInfo::kExposes});
  UnitNameId work_ = b_.add_unit_name({.name = "work", .source = UnitSource::Function});
};

using Lines = std::vector<std::string>;

TEST_F(Reached, ThroughItsPointersIsTheObjectsOwn) {
  begin("T1", take_, "a1");
  touch("T1", "s1");  // some other way: an additional unit
  begin("T1", private_, "a1");
  reach("T1", "s1");
  end("T1");
  touch("T1", "s1");
  touch("T1", "s2");
  EXPECT_EQ(answers(), (Lines{"State, Account::take+", "Account, Account::take", "Account, Account::take",
                              "State, Account::take+"}));
}

TEST_F(Reached, AFunctionWithoutAnObjectAndACursorOwnNothing) {
  begin("T1", work_);
  reach("T1", "s1");
  end("T1");
  begin("T1", cursor_, "a1");
  reach("T1", "s1");
  EXPECT_EQ(answers(), (Lines{"State, work+", "State, nobody"}));
}

TEST_F(Reached, WhatAnotherTouchesIsNobodysFromThenOn) {
  touch("T2", "p");
  begin("T1", take_, "a1");
  reach("T1", "s1");
  begin("T2", work_);
  touch("T2", "s1");
  reach("T1", "s1");
  EXPECT_EQ(answers(),
            (Lines{"Part, nobody", "Account, Account::take", "State, work+", "State, Account::take+"}));
}

TEST_F(Reached, WhatTwoReachIsNobodys) {
  begin("T1", take_, "a1");
  begin("T2", take_, "a2");
  reach("T1", "s1");
  reach("T2", "s1");
  reach("T1", "s1");
  reach("T2", "s2");
  EXPECT_EQ(answers(), (Lines{"Account, Account::take", "State, Account::take+", "State, Account::take+",
                              "Account, Account::take"}));
}

// A method of the state is as good as any other access: inside of the account's methods, or not.
TEST_F(Reached, MethodsOfThePart) {
  touch("T2", "p");
  begin("T1", take_, "a1");
  reach("T1", "s1");
  begin("T1", change_, "s1");
  touch("T1", "s1");
  begin("T2", change_, "s1");
  touch("T2", "s1");
  touch("T1", "s1");  // its method was open when it went
  EXPECT_EQ(answers(), (Lines{"Part, nobody", "Account, Account::take", "Account, Account::take",
                              "State, State::change", "State, State::change"}));
}

TEST_F(Reached, OneThreadAloneOnlyPutsThingsTogether) {
  begin("T1", take_, "a2");
  reach("T1", "s1");
  end("T1");
  touch("T1", "s1");
  begin("T1", take_, "a1");
  reach("T1", "s1");  // the last one has it
  end("T1");
  touch("T1", "s1");
  begin("T2", take_, "a1");
  touch("T2", "s1");
  EXPECT_EQ(answers(), (Lines{"Account, Account::take", "Account, nobody", "Account, Account::take",
                              "Account, nobody", "Account, Account::take"}));
}

TEST_F(Reached, PartsOfParts) {
  touch("T2", "a2");
  begin("T1", change_, "s1");
  reach("T1", "p");  // the state's
  end("T1");
  begin("T1", take_, "a1");
  reach("T1", "s1");  // and both are the account's
  touch("T1", "p");
  touch("T2", "s1");  // the state goes, and takes its part along
  begin("T1", change_, "s1");
  touch("T1", "p");
  EXPECT_EQ(answers(), (Lines{"Account, nobody", "State, State::change", "Account, Account::take",
                              "Account, Account::take", "State, nobody", "State, State::change"}));
}

// A child that points to its parent, whose child it is: whoever reaches first has the other.
TEST_F(Reached, TwoThatPointToEachOther) {
  begin("T1", take_, "a1");
  reach("T1", "s1");
  begin("T1", change_, "s1");
  reach("T1", "a1");
  end("T1");
  end("T1");
  begin("T1", change_, "s1");
  reach("T1", "a1");
  EXPECT_EQ(answers(), (Lines{"Account, Account::take", "Account, Account::take", "Account, State::change"}));
}

// The place of the call says it where an accessor does the rest.
TEST_F(Reached, ThroughAGetter) {
  ContextId outer = b_.add_context({});
  ContextId inner = b_.add_context({.parent = outer, .call_site = through_});
  auto at = [&](EventKind kind, ContextId context, uint32_t object, uint32_t self) {
    Event e{.kind = kind, .thread = b_.thread("T1"), .site = plain_, .context = context};
    e.object = object;
    e.object2 = self;
    b_.add(e);
  };
  at(EventKind::Begin, outer, raw(take_), raw(objects_[number("a1")]));
  at(EventKind::Read, inner, raw(variables_[number("s1")]), UINT32_MAX);  // one that is no unit
  at(EventKind::Begin, inner, raw(get_), raw(objects_[number("s2")]));
  at(EventKind::Read, inner, raw(variables_[number("s2")]), UINT32_MAX);
  at(EventKind::Read, inner, raw(variables_[number("p")]), UINT32_MAX);  // not what it was called on
  end("T1");
  at(EventKind::Begin, inner, raw(change_), raw(objects_[number("p")]));
  at(EventKind::Read, inner, raw(variables_[number("p")]), UINT32_MAX);  // a method, not an accessor
  EXPECT_EQ(answers(), (Lines{"Account, Account::take", "Account, Account::take", "Part, Account::take+",
                              "Part, State::change"}));
}

}  // namespace
}  // namespace cleave
