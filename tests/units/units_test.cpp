#include "units/units.h"

#include <gtest/gtest.h>

#include <map>

#include "base/glob.h"
#include "trace/core/unit_flags.h"
#include "units/config.h"

namespace cleave {
namespace {

struct Mapped {
  SetMap sets;
  UnitMap units;
  Mapped(const Trace& trace, const UnitOptions& options, SetOptions set_options = {})
      : sets(std::move(set_options), trace), units(map_units(trace, options, sets)) {}
};

std::string label_at(const Trace& trace, const Mapped& mapped, size_t event) {
  UnitId id = mapped.units.unit_of(EventIndex{event});
  return id == kNone<UnitId> ? "" : unit_label(trace, mapped.units.unit(id), mapped.units.lock_functions);
}

Event begin_event(TraceBuilder& b, std::string_view thread, UnitNameId unit,
                  ObjectId self = kNone<ObjectId>) {
  Event e{.kind = EventKind::Begin, .thread = b.thread(thread)};
  e.object = raw(unit);
  e.object2 = raw(self);
  return e;
}

TEST(Glob, StarsAndQuestionMarks) {
  EXPECT_TRUE(matches_glob("RingLog::append", "RingLog::append"));
  EXPECT_TRUE(matches_glob("transfer_*", "transfer_all"));
  EXPECT_TRUE(matches_glob("*::operator[]", "Vec::operator[]"));
  EXPECT_TRUE(matches_glob("a*b*c", "aXbYbZc"));
  EXPECT_TRUE(matches_glob("T?", "T1"));
  EXPECT_FALSE(matches_glob("T?", "T"));
  EXPECT_FALSE(matches_glob("transfer_*", "retransfer_all"));
  EXPECT_FALSE(matches_glob("a*b", "abc"));
}

TEST(Units, TopMostUnitTakesTheAccess) {
  TraceBuilder b;
  b.read("T1", "x", 0);    // 0: in no unit
  b.begin("T1", "outer");  // 1
  b.begin("T1", "inner");  // 2
  b.write("T1", "x", 1);   // 3
  b.end("T1");             // 4
  b.read("T1", "x", 1);    // 5
  b.end("T1");             // 6
  b.begin("T1", "inner");  // 7
  b.read("T1", "x", 1);    // 8, never ends
  Trace t = std::move(b).build();
  Mapped m(t, {});
  EXPECT_EQ(label_at(t, m, 0), "");
  EXPECT_EQ(label_at(t, m, 3), "outer");
  EXPECT_EQ(m.units.unit_of(EventIndex{3}), m.units.unit_of(EventIndex{5}));
  EXPECT_EQ(label_at(t, m, 8), "inner");
  const Unit& outer = m.units.unit(m.units.unit_of(EventIndex{3}));
  EXPECT_EQ(raw(outer.begin), 1u);
  EXPECT_EQ(raw(outer.end), 6u);
  EXPECT_EQ(m.units.unit(m.units.unit_of(EventIndex{8})).end, kNone<EventIndex>);
}

TEST(Units, WithoutAnnotationsCriticalSectionsAreUnitsAndNeedNotNest) {
  TraceBuilder b;
  b.acquire("T1", "a");   // 0
  b.write("T1", "x", 1);  // 1
  b.acquire("T1", "b");   // 2
  b.write("T1", "x", 2);  // 3: of a, which began first
  b.release("T1", "a");   // 4
  b.write("T1", "x", 3);  // 5: of b
  b.release("T1", "b");   // 6
  b.write("T1", "x", 4);  // 7
  Trace t = std::move(b).build();
  Mapped m(t, {});
  EXPECT_EQ(label_at(t, m, 1), "section of a");
  EXPECT_EQ(m.units.unit_of(EventIndex{1}), m.units.unit_of(EventIndex{3}));
  EXPECT_EQ(label_at(t, m, 5), "section of b");
  EXPECT_EQ(label_at(t, m, 7), "");
}

TEST(Units, SplitAtConditionWaitsUnlessSwitchedOff) {
  TraceBuilder b;
  b.begin("T1", "take");
  b.read("T1", "n", 0);  // 1
  Event wait{.kind = EventKind::Wait, .thread = b.thread("T1")};
  wait.object = raw(b.sync("c"));
  wait.object2 = raw(b.sync("m"));
  b.add(wait);
  b.read("T1", "n", 1);  // 3
  b.end("T1");
  Trace t = std::move(b).build();
  Mapped split(t, {});
  EXPECT_NE(split.units.unit_of(EventIndex{1}), split.units.unit_of(EventIndex{3}));
  EXPECT_EQ(label_at(t, split, 3), "take");
  UnitOptions whole;
  whole.split_at_waits = false;
  Mapped unsplit(t, whole);
  EXPECT_EQ(unsplit.units.unit_of(EventIndex{1}), unsplit.units.unit_of(EventIndex{3}));
}

// Two objects, a method of one that calls a method of the other and touches its field directly.
struct Objects {
  TraceBuilder b;
  ObjectId account = b.add_object({.name = "a", .type = "Account", .address = 16, .size = 16});
  ObjectId log = b.add_object({.name = "l", .type = "Log", .address = 64, .size = 8});
  VariableId balance =
      b.add_variable({.name = "Account::balance", .address = 16, .object = account, .field = "balance"});
  VariableId count = b.add_variable({.name = "Log::count", .address = 64, .object = log, .field = "count"});
  VariableId total = b.add_variable({.name = "Account::total", .address = 128, .home = "Account"});
  UnitNameId withdraw =
      b.add_unit_name({.name = "Account::withdraw", .source = UnitSource::Method, .type = "Account"});
  UnitNameId append = b.add_unit_name({.name = "Log::append", .source = UnitSource::Method, .type = "Log"});
  UnitNameId size = b.add_unit_name(
      {.name = "Log::size", .source = UnitSource::Method, .type = "Log", .flags = UnitNameInfo::kGetter});
  UnitNameId work = b.add_unit_name({.name = "work", .source = UnitSource::Function});
  void begin(UnitNameId unit, ObjectId self = kNone<ObjectId>) { b.add(begin_event(b, "T1", unit, self)); }
  EventIndex touch(VariableId variable) {
    Event e{.kind = EventKind::Write, .thread = b.thread("T1")};
    e.object = raw(variable);
    return b.add(e);
  }
};

TEST(Units, MethodsAreDeclaredOnTheirObjectAndTheStaticsOfItsClass) {
  Objects o;
  o.begin(o.withdraw, o.account);
  EventIndex own = o.touch(o.balance), statics = o.touch(o.total);
  o.begin(o.append, o.log);
  EventIndex other = o.touch(o.count), back = o.touch(o.balance);
  Trace t = std::move(o.b).build();
  Mapped m(t, {});
  EXPECT_EQ(label_at(t, m, raw(own)), "Account::withdraw");
  EXPECT_EQ(label_at(t, m, raw(statics)), "Account::withdraw");
  EXPECT_EQ(label_at(t, m, raw(other)), "Log::append");
  EXPECT_EQ(label_at(t, m, raw(back)), "Account::withdraw");
}

TEST(Units, AFunctionThatTouchesAnotherObjectIsAnAdditionalUnitAlsoThroughAGetter) {
  Objects o;
  o.begin(o.work);
  EventIndex direct = o.touch(o.balance);
  o.begin(o.size, o.log);
  EventIndex got = o.touch(o.count);
  o.b.end("T1");
  o.begin(o.withdraw, o.account);
  EventIndex in_method = o.touch(o.balance), from_method = o.touch(o.count);
  Trace t = std::move(o.b).build();
  Mapped m(t, {});
  EXPECT_EQ(label_at(t, m, raw(direct)), "work");
  EXPECT_EQ(label_at(t, m, raw(got)), "work");
  EXPECT_EQ(label_at(t, m, raw(in_method)), "Account::withdraw");
  EXPECT_EQ(label_at(t, m, raw(from_method)), "work");  // the top-most unit for the log by now
}

// The access before the method and the one after it are no unit: it would be around the method's, in one
// thread.
TEST(Units, AMethodOfTheObjectEndsAnAdditionalUnitForIt) {
  Objects o;
  o.begin(o.work);
  EventIndex before = o.touch(o.balance);
  o.begin(o.withdraw, o.account);
  EventIndex inside = o.touch(o.balance);
  o.b.end("T1");
  EventIndex after = o.touch(o.balance), again = o.touch(o.balance);
  Trace t = std::move(o.b).build();
  Mapped m(t, {});
  EXPECT_EQ(label_at(t, m, raw(inside)), "Account::withdraw");
  EXPECT_EQ(label_at(t, m, raw(after)), "work");
  EXPECT_NE(m.units.unit_of(before), m.units.unit_of(after));
  EXPECT_EQ(m.units.unit_of(after), m.units.unit_of(again));
}

TEST(Units, ALockSectionInAnAccessorBelongsToTheCaller) {
  Objects o;
  auto get = [&] {
    o.begin(o.size, o.log);
    o.b.acquire("T1", "m");
    EventIndex access = o.touch(o.count);
    o.b.release("T1", "m");
    o.b.end("T1");
    return access;
  };
  EventIndex alone = get();
  o.begin(o.work);
  EventIndex first = get(), second = get();
  o.b.end("T1");
  o.b.acquire("T1", "whole");
  EventIndex guarded = get();
  o.b.release("T1", "whole");
  Trace t = std::move(o.b).build();
  Mapped m(t, {});
  EXPECT_EQ(label_at(t, m, raw(alone)), "");
  EXPECT_EQ(label_at(t, m, raw(first)), "work");
  EXPECT_EQ(m.units.unit_of(first), m.units.unit_of(second));
  EXPECT_EQ(label_at(t, m, raw(guarded)), "section of whole");
  UnitOptions only_locks;
  only_locks.locks = true;
  Mapped sections(t, only_locks);
  EXPECT_EQ(label_at(t, sections, raw(first)), "section of m");
}

TEST(Units, EachRoundOfALoopIsAUnitForWhatIsUsedThroughAccessors) {
  Objects o;
  UnitNameId round = o.b.add_unit_name({.name = "work", .source = UnitSource::Function, .flags = kUnitRound});
  auto get = [&] {
    o.begin(o.size, o.log);
    EventIndex access = o.touch(o.count);
    o.b.end("T1");
    return access;
  };
  auto next_round = [&] {
    o.begin(round);
    o.b.end("T1");
  };
  o.begin(o.work);
  EventIndex before = get(), direct = o.touch(o.balance);
  next_round();
  EventIndex first = get(), same = get(), still = o.touch(o.balance);
  next_round();
  EventIndex second = get();
  Trace t = std::move(o.b).build();
  Mapped m(t, {});
  EXPECT_EQ(m.units.unit_of(before), m.units.unit_of(direct));
  EXPECT_NE(m.units.unit_of(before), m.units.unit_of(first));
  EXPECT_EQ(m.units.unit_of(first), m.units.unit_of(same));
  EXPECT_EQ(m.units.unit_of(direct), m.units.unit_of(still));
  EXPECT_NE(m.units.unit_of(first), m.units.unit_of(second));
  EXPECT_EQ(label_at(t, m, raw(second)), "work");
}

TEST(Units, AWalkWithAnIteratorIsOneUnitWhateverTheRound) {
  Objects o;
  UnitNameId round = o.b.add_unit_name({.name = "work", .source = UnitSource::Function, .flags = kUnitRound});
  UnitNameId next = o.b.add_unit_name({.name = "Cursor::next",
                                       .source = UnitSource::Method,
                                       .type = "Cursor",
                                       .flags = kUnitSteps | kUnitWalks});
  auto step = [&] {
    o.begin(next);
    o.b.acquire("T1", "m");
    EventIndex access = o.touch(o.count);
    o.b.release("T1", "m");
    o.b.end("T1");
    o.begin(round);
    o.b.end("T1");
    return access;
  };
  o.begin(o.work);
  EventIndex first = step(), second = step(), third = step();
  Trace t = std::move(o.b).build();
  Mapped m(t, {});
  EXPECT_EQ(label_at(t, m, raw(first)), "work");
  EXPECT_EQ(m.units.unit_of(first), m.units.unit_of(second));
  EXPECT_EQ(m.units.unit_of(first), m.units.unit_of(third));
}

// The one that a function touches itself is in `merged`, not that of a method which the section only calls.
TEST(Units, WhatACallTouchesDirectlyInASectionIsOne) {
  Objects o;
  o.begin(o.work);
  o.b.acquire("T1", "m");
  EventIndex balance = o.touch(o.balance), count = o.touch(o.count);
  o.b.release("T1", "m");
  o.b.acquire("T1", "m");
  o.begin(o.withdraw, o.account);
  EventIndex own = o.touch(o.balance), from_method = o.touch(o.count);
  Trace t = std::move(o.b).build();
  UnitOptions options;
  options.methods = options.locks = true;
  SetMap sets({}, t);
  LockFunctions lock_functions(t);
  UnitTracker tracker(options, sets, t, lock_functions);
  std::map<EventIndex, uint64_t> merged;
  for (size_t i = 0; i < t.size(); ++i) {
    const Event& event = t.events()[i];
    if (!is_access(event.kind)) {
      tracker.feed(event, EventIndex{i});
      continue;
    }
    merged[EventIndex{i}] = tracker.unit_of(event, EventIndex{i})->merged;
  }
  EXPECT_NE(merged[balance], 0u);
  EXPECT_EQ(merged[balance], merged[count]);
  EXPECT_EQ(merged[own], 0u);
  EXPECT_NE(merged[from_method], 0u);
  EXPECT_NE(merged[from_method], merged[count]);
}

TEST(Units, ConfigOverrides) {
  Objects o;
  o.begin(o.work);
  EventIndex outer = o.touch(o.balance);
  o.begin(o.withdraw, o.account);
  EventIndex inner = o.touch(o.balance);
  Trace t = std::move(o.b).build();
  UnitOptions options;
  options.not_atomic = {"work"};
  Mapped barred(t, options);
  EXPECT_EQ(label_at(t, barred, raw(outer)), "");
  EXPECT_EQ(label_at(t, barred, raw(inner)), "Account::withdraw");
  options = {};
  options.atomic = {"wor*"};
  Mapped atomic(t, options);
  EXPECT_EQ(label_at(t, atomic, raw(inner)), "work");
}

TEST(Units, SourcesAreParsed) {
  std::vector<std::string> words = {"annotated,locks", "functions:transfer_*"};
  Result<UnitOptions> options = parse_unit_sources(words);
  ASSERT_TRUE(options.ok());
  EXPECT_TRUE(options.value().annotated && options.value().locks && !options.value().methods);
  EXPECT_EQ(options.value().functions, std::vector<std::string>{"transfer_*"});
  std::vector<std::string> wrong = {"lock"};
  EXPECT_FALSE(parse_unit_sources(wrong).ok());
}

TEST(Sets, FieldsOfOneObjectAreOneSetByValueMembersIncluded) {
  TraceBuilder b;
  ObjectId whole = b.add_object({.name = "q", .type = "Queue", .address = 16, .size = 32});
  ObjectId part = b.add_object({.name = "q.ring", .type = "Ring", .address = 24, .size = 8, .outer = whole});
  ObjectId other = b.add_object({.name = "q2", .type = "Queue", .address = 64, .size = 32});
  VariableId n = b.add_variable({.name = "Queue::n", .object = whole, .field = "n"});
  VariableId head = b.add_variable({.name = "Ring::head", .object = part, .field = "head"});
  VariableId n2 = b.add_variable({.name = "Queue::n", .object = other, .field = "n"});
  VariableId hits = b.add_variable(
      {.name = "Queue::hits", .object = whole, .field = "hits", .flags = VariableInfo::kAtomic});
  VariableId low = b.add_variable({.name = "Queue::low", .object = whole, .field = "low", .set = "marks"});
  Trace t = std::move(b).build();
  SetMap sets({}, t);
  EXPECT_EQ(sets.set_of(n), sets.set_of(head));
  EXPECT_NE(sets.set_of(n), sets.set_of(n2));
  EXPECT_NE(sets.set_of(n), sets.set_of(hits));
  EXPECT_TRUE(sets.info(sets.set_of(hits)).atomic);
  EXPECT_NE(sets.set_of(n), sets.set_of(low));
  EXPECT_EQ(sets.info(sets.set_of(low)).name, "Queue.marks");
  EXPECT_EQ(sets.info(sets.set_of(low)).owner, sets.info(sets.set_of(n)).owner);
  EXPECT_EQ(sets.info(sets.set_of(n)).name, "Queue");
}

TEST(Sets, StaticsGlobalsAndDeclarations) {
  TraceBuilder b;
  VariableId s1 = b.add_variable({.name = "count", .home = "pool.c"});
  VariableId s2 = b.add_variable({.name = "limit", .home = "pool.c"});
  VariableId a0 = b.variable("slots[0]"), a1 = b.variable("slots[1]");
  VariableId x = b.variable("x"), y = b.variable("y"), z = b.variable("z");
  b.declare_set("pair", x);
  b.declare_set("pair", y);
  Trace t = std::move(b).build();
  SetMap sets({}, t);
  EXPECT_EQ(sets.set_of(s1), sets.set_of(s2));
  EXPECT_EQ(sets.set_of(a0), sets.set_of(a1));
  EXPECT_EQ(sets.set_of(x), sets.set_of(y));
  EXPECT_NE(sets.set_of(x), sets.set_of(z));
  SetMap one({.one = true}, t);
  EXPECT_EQ(one.set_of(s1), one.set_of(z));
}

TEST(Sets, ConfigNamesASetOfEachObject) {
  Result<Config> config = parse_config(
      "[units]\nnot_atomic = [\"worker\"]\n[sets]\n\"Account.money\" = "
      "[\"Account::checking\", \"Account::savings\"]\n",
      "cleave.toml");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config.value().not_atomic, std::vector<std::string>{"worker"});
  TraceBuilder b;
  ObjectId a = b.add_object({.name = "a", .type = "Account"}),
           c = b.add_object({.name = "c", .type = "Account"});
  VariableId checking = b.add_variable({.name = "Account::checking", .object = a, .field = "checking"});
  VariableId savings = b.add_variable({.name = "Account::savings", .object = a, .field = "savings"});
  VariableId name = b.add_variable({.name = "Account::name", .object = a, .field = "name"});
  VariableId other = b.add_variable({.name = "Account::checking", .object = c, .field = "checking"});
  Trace t = std::move(b).build();
  SetMap sets({.declared = config.value().sets}, t);
  EXPECT_EQ(sets.set_of(checking), sets.set_of(savings));
  EXPECT_NE(sets.set_of(checking), sets.set_of(name));
  EXPECT_NE(sets.set_of(checking), sets.set_of(other));
  EXPECT_EQ(sets.info(sets.set_of(checking)).name, "Account.money");
}

TEST(Sets, PatternsNameFieldsByTheirClassAndArraysWithoutTheIndex) {
  TraceBuilder b;
  ObjectId box = b.add_object({.name = "box", .type = "Box"});
  VariableId inner = b.add_variable({.name = "Pair::a", .object = box, .field = "pair.a"});
  VariableId slot = b.add_variable({.name = "Pair::slots[3]", .object = box, .field = "pair.slots[3]"});
  VariableId rest = b.add_variable({.name = "Box::rest", .object = box, .field = "rest"});
  VariableId cells = b.add_variable({.name = "cells[7]"});
  Trace t = std::move(b).build();
  SetMap sets({.declared = {{"one", {"Pair::a", "no_such"}},
                            {"two", {"Box::pair.slots"}},
                            {"three", {"cells", "Pair::*"}}},
               .owned = {"Pair::slots", "Box::other"}},
              t);
  EXPECT_EQ(sets.info(sets.set_of(inner)).name, "Box.one");
  EXPECT_EQ(sets.info(sets.set_of(slot)).name, "Box.two");
  EXPECT_EQ(sets.info(sets.set_of(rest)).name, "Box");
  EXPECT_EQ(sets.info(sets.set_of(cells)).name, "three");
  EXPECT_TRUE(sets.member(slot).owns);
  EXPECT_FALSE(sets.member(inner).owns);
  std::vector<UnmatchedPattern> unmatched = sets.unmatched();
  ASSERT_EQ(unmatched.size(), 2u);  // Pair::* fits, though others were first
  EXPECT_EQ(unmatched[0].pattern, "no_such");
  EXPECT_EQ(unmatched[0].set, "one");
  EXPECT_EQ(unmatched[1].pattern, "Box::other");
  EXPECT_EQ(unmatched[1].where, UnmatchedPattern::Where::Owned);
}

TEST(Units, UnitForNamesTheSet) {
  TraceBuilder b;
  ObjectId a = b.add_object({.name = "a", .type = "Stock"}), c = b.add_object({.name = "c", .type = "Shelf"});
  VariableId count = b.add_variable({.name = "Stock::count", .object = a, .field = "count"});
  VariableId money = b.add_variable({.name = "Stock::money", .object = a, .field = "money", .set = "money"});
  VariableId width = b.add_variable({.name = "Shelf::width", .object = c, .field = "width"});
  UnitNameId order = b.add_unit_name({.name = "order", .source = UnitSource::Function});
  UnitNameId take = b.add_unit_name({.name = "Stock::take", .source = UnitSource::Method, .type = "Stock"});
  b.add(begin_event(b, "T1", order));
  auto read = [&](VariableId variable) {
    Event e{.kind = EventKind::Read, .thread = b.thread("T1")};
    e.object = raw(variable);
    b.add(e);
  };
  read(count);                           // 1
  b.add(begin_event(b, "T1", take, a));  // 2
  read(count);                           // 3
  b.end("T1");                           // 4
  read(money);                           // 5
  read(width);                           // 6
  b.end("T1");
  Trace t = std::move(b).build();
  Mapped m(t, {.methods = true, .unitfor = {{"ord*", "Stock"}}});
  for (size_t event : {1, 3, 5}) EXPECT_EQ(label_at(t, m, event), "order") << event;
  EXPECT_EQ(label_at(t, m, 6), "");
  EXPECT_TRUE(unmatched_patterns({.unitfor = {{"order", "Stock"}}}, m.sets).empty());
  EXPECT_EQ(unmatched_patterns({.unitfor = {{"order", "Stick"}}}, m.sets).size(), 1u);
  Mapped without(t, {.methods = true});
  EXPECT_EQ(label_at(t, without, 3), "Stock::take");
}

TEST(Config, OwnedAndUnitFor) {
  Result<Config> config = parse_config(
      "[units]\nunitfor = [\"audit(Chain)\", \"F::operator()(Box<int (*)(int)>)\"]\n[fields]\nowned = "
      "[\"Chain::head_\"]\n",
      "c");
  ASSERT_TRUE(config.ok()) << config.error().sentence();
  ASSERT_EQ(config.value().unitfor.size(), 2u);
  EXPECT_EQ(config.value().unitfor[0].function, "audit");
  EXPECT_EQ(config.value().unitfor[0].set, "Chain");
  EXPECT_EQ(config.value().unitfor[1].function, "F::operator()");
  EXPECT_EQ(config.value().unitfor[1].set, "Box<int (*)(int)>");
  EXPECT_EQ(config.value().owned, std::vector<std::string>{"Chain::head_"});
  for (const char* wrong : {"audit", "(Chain)", "audit()", "audit Chain)"}) {
    Result<Config> refused = parse_config(std::string("[units]\nunitfor = [\"") + wrong + "\"]\n", "c");
    ASSERT_FALSE(refused.ok()) << wrong;
    EXPECT_NE(refused.error().sentence().find("does not say for what"), std::string::npos)
        << refused.error().sentence();
  }
  EXPECT_FALSE(parse_config("[fields]\nowns = []\n", "c").ok());
  EXPECT_FALSE(parse_config("[fields]\nowned = \"x\"\n", "c").ok());
}

TEST(Config, SaysWhereItIsWrong) {
  Result<Config> config = parse_config("[units]\natomic = \"x\"\n", "cleave.toml");
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.error().sentence(), "cleave.toml: line 2: atomic must be a list of names in brackets");
  EXPECT_FALSE(parse_config("[unit]\n", "c").ok());
  EXPECT_FALSE(parse_config("[units\n", "c").ok());
}

}  // namespace
}  // namespace cleave
