#include "units/unit_hints.h"

#include <gtest/gtest.h>

namespace cleave {
namespace {

// A call of `function` that reads and writes x in two critical sections.
void call_in_two_sections(TraceBuilder& b, std::string_view thread, std::string_view function,
                          uint64_t value) {
  UnitNameInfo info{.name = std::string(function), .source = UnitSource::Function};
  Event begin{.kind = EventKind::Begin, .thread = b.thread(thread)};
  UnitNameId name = kNone<UnitNameId>;
  for (size_t i = 0; i < b.tables().unit_names().size(); ++i) {
    if (b.tables().unit_names()[i].name == function) name = id_of<UnitNameId>(i);
  }
  begin.object = raw(name == kNone<UnitNameId> ? b.add_unit_name(info) : name);
  b.add(begin);
  b.acquire(thread, "m");
  b.read(thread, "x", value);
  b.release(thread, "m");
  b.acquire(thread, "m");
  b.write(thread, "x", value + 1);
  b.release(thread, "m");
  b.end(thread);
}

std::vector<UnitHint> hints_of(const Trace& trace, const UnitOptions& options) {
  SetMap sets({}, trace);
  return unit_hints(trace, map_units(trace, options, sets));
}

UnitOptions by_locks() {
  UnitOptions options;
  options.locks = true;
  return options;
}

TEST(UnitHints, NamesTheInnermostFunctionOverSeveralUnits) {
  TraceBuilder b;
  Event outer{.kind = EventKind::Begin, .thread = b.thread("T1")};
  outer.object = raw(b.add_unit_name({.name = "worker", .source = UnitSource::Function}));
  b.add(outer);
  call_in_two_sections(b, "T1", "increment", 0);
  call_in_two_sections(b, "T1", "increment", 1);
  b.end("T1");
  call_in_two_sections(b, "T2", "increment", 2);
  Trace trace = std::move(b).build();
  std::vector<UnitHint> expected{{.function = "increment", .variable = "x", .units = 2, .calls = 3}};
  EXPECT_EQ(hints_of(trace, by_locks()), expected);
}

TEST(UnitHints, NamesTheCallerWhereItsCallsAreOneUnitEach) {
  TraceBuilder b;
  for (std::string_view thread : {"T1", "T2"}) {
    Event outer{.kind = EventKind::Begin, .thread = b.thread(thread)};
    outer.object = raw(b.tables().unit_names().empty()
                           ? b.add_unit_name({.name = "twice", .source = UnitSource::Function})
                           : UnitNameId{0});
    b.add(outer);
    for (int i = 0; i < 2; ++i) {
      b.acquire(thread, "m");
      b.update(thread, "x", 0, 0);
      b.release(thread, "m");
    }
    b.end(thread);
  }
  Trace trace = std::move(b).build();
  std::vector<UnitHint> expected{{.function = "twice", .variable = "x", .units = 2, .calls = 2}};
  EXPECT_EQ(hints_of(trace, by_locks()), expected);
}

// main sets up what the threads only read later, and looks at it when they are gone.
TEST(UnitHints, WhatAThreadDoesWhileItIsAloneIsNotSharing) {
  auto traced = [](bool while_others_run) {
    TraceBuilder b;
    b.thread("main");
    if (while_others_run) b.fork("main", "T1");
    call_in_two_sections(b, "main", "set_up", 0);
    if (!while_others_run) b.fork("main", "T1");
    b.read("T1", "x", 1);
    b.join("main", "T1");
    call_in_two_sections(b, "main", "tear_down", 1);
    return std::move(b).build();
  };
  EXPECT_TRUE(hints_of(traced(false), by_locks()).empty());
  std::vector<UnitHint> expected{{.function = "set_up", .variable = "x", .units = 2, .calls = 1}};
  EXPECT_EQ(hints_of(traced(true), by_locks()), expected);
}

TEST(UnitHints, NothingForOneUnitOneThreadOrReadsAlone) {
  TraceBuilder one_thread;
  call_in_two_sections(one_thread, "T1", "increment", 0);
  EXPECT_TRUE(hints_of(std::move(one_thread).build(), by_locks()).empty());

  TraceBuilder covered;
  call_in_two_sections(covered, "T1", "increment", 0);
  call_in_two_sections(covered, "T2", "increment", 1);
  UnitOptions functions;
  functions.functions = {"increment"};
  EXPECT_TRUE(hints_of(std::move(covered).build(), functions).empty());
}

}  // namespace
}  // namespace cleave
