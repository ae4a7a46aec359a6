// The examples of the paper (Marathon, figures 1 to 3), and what goes into a report.
#include <gtest/gtest.h>

#include "analysis/conflict/check.h"
#include "analysis/conflict/hints.h"
#include "trace/text/text.h"

namespace cleave::conflict {
namespace {

CheckReport run(const std::string& text, CheckOptions options = {}) {
  Result<Trace> trace = parse_text_trace(text, "test");
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().sentence());
  TraceSource source(trace.value());
  return check(source, options).value();
}

// Figure 1(b): transfer moves money within an account and counts twice; another thread counts in between.
const std::string kFigure1 =
    "T1 begin transfer self=account\n"
    "T1 read  account.checking 10\n"
    "T1 write account.checking 15\n"
    "T1 begin inc self=global\n"
    "T1 read  global.opCounter 0\n"
    "T1 write global.opCounter 1\n"
    "T1 end\n"
    "T2 begin inc self=global\n"
    "T2 read  global.opCounter 1\n"
    "T2 write global.opCounter 2\n"
    "T2 end\n"
    "T1 read  account.savings 10\n"
    "T1 write account.savings 5\n"
    "T1 begin inc self=global\n"
    "T1 read  global.opCounter 2\n"
    "T1 write global.opCounter 3\n"
    "T1 end\n"
    "T1 end\n";

TEST(Figure1, TwoSetsAreNoViolation) {
  CheckReport report = run(kFigure1);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_FALSE(report.first_violation.has_value());
  EXPECT_EQ(report.units, 4u);  // transfer, and three times inc
}

TEST(Figure1, OneSetIsAViolation) {
  CheckReport report = run(kFigure1, {.sets = {.one = true}});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(raw(*report.first_violation), 14u);  // the third inc reads what the other thread wrote
  const Finding& cycle = report.findings[0];
  ASSERT_EQ(cycle.units.size(), 2u);
  EXPECT_EQ(cycle.units[0].name, "inc");
  EXPECT_EQ(cycle.units[1].name, "transfer");
  EXPECT_EQ(cycle.edges[0].variable, "global.opCounter");
}

TEST(Figure1, MergedByDeclarationIsAViolationToo) {
  std::string plain = kFigure1;
  for (const char* self : {" self=account", " self=global"}) {
    for (size_t at; (at = plain.find(self)) != std::string::npos;) plain.erase(at, std::string(self).size());
  }
  CheckReport report = run("set bank account.checking account.savings global.opCounter\n" + plain);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].set, "bank");
}

// Figures 2 and 3 (Wang and Stoller): no two of the three units make a cycle, the three do.
const std::string kFigure2 =
    "T1 begin u1\n"
    "T1 write x 1\n"
    "T2 begin u2\n"
    "T2 read  x 1\n"
    "T2 write y 1\n"
    "T2 end\n"
    "T3 begin u3\n"
    "T3 read  y 1\n"
    "T3 write z 1\n"
    "T3 end\n"
    "T1 read  z 1\n"
    "T1 end\n";

TEST(Figure2, ThreeUnitsMakeACycle) {
  CheckReport report = run("set S x y z\n" + kFigure2);
  ASSERT_EQ(report.findings.size(), 1u);
  const Finding& cycle = report.findings[0];
  EXPECT_EQ(cycle.kind, FindingKind::Cycle);
  EXPECT_EQ(cycle.set, "S");
  ASSERT_EQ(cycle.units.size(), 3u);
  EXPECT_EQ(cycle.units[0].name, "u1");
  EXPECT_EQ(cycle.units[1].name, "u2");
  EXPECT_EQ(cycle.units[2].name, "u3");
  const char* variables[] = {"x", "y", "z"};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(cycle.edges[i].variable, variables[i]);
    EXPECT_EQ(cycle.edges[i].conflict, "WR");
    EXPECT_EQ(cycle.edges[i].first.op, "write");
    EXPECT_EQ(cycle.edges[i].second.op, "read");
    EXPECT_EQ(cycle.edges[i].second.value, "1");
  }
  EXPECT_EQ(report.cycles_by_size, (std::map<size_t, uint64_t>{{3, 1}}));
  EXPECT_EQ(raw(*report.first_violation), 10u);
  EXPECT_EQ(report.most_live, 3u);
}

TEST(Figure2, ASerialRunOfTheSameUnitsHasNone) {
  std::string serial =
      "set S x y z\n"
      "T1 begin u1\nT1 write x 1\nT1 read z 0\nT1 end\n"
      "T2 begin u2\nT2 read x 1\nT2 write y 1\nT2 end\n"
      "T3 begin u3\nT3 read y 1\nT3 write z 1\nT3 end\n";
  CheckReport report = run(serial);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.edges, 0u);  // no unit overlaps another: nothing had to be kept
}

TEST(Report, ACycleIsCalledAfterTheUnitThatWasSplit) {
  CheckReport report =
      run("set S x y\n"
          "T1 begin take\nT1 read x 0\nT1 read y 0\n"
          "T2 begin give\nT2 write y 1\nT2 write x 1\nT2 end\n"
          "T3 begin look\nT3 read x 1\nT3 end\n"
          "T1 write x 2\nT1 end\n");
  ASSERT_FALSE(report.findings.empty());
  for (const Finding& cycle : report.findings) {
    EXPECT_EQ(cycle.units[0].name, "give") << "the sequence begins with the first name, so that ids stay";
    EXPECT_EQ(cycle.unit, "take");
    EXPECT_EQ(cycle.variable, "y");
    ASSERT_EQ(cycle.units[cycle.split].name, "take");
    EXPECT_EQ(cycle.why,
              cycle.units.size() == 2
                  ? "take of T1 is split: give of T2 comes after its read of y and before its write of x. No "
                    "serial "
                    "order of the 2 units has its conflicts in this order."
                  : "take of T1 is split: give of T2 and the others, one before the next, come after its "
                    "read of y and "
                    "before its write of x. No serial order of the 3 units has its conflicts in this order.");
  }
}

TEST(Report, ACycleIsToldOnceAndCounted) {
  std::string text;
  for (int i = 0; i < 3; ++i) {
    text += "T1 begin get\nT1 read x 0\nT2 begin put\nT2 write x 1\nT2 end\nT1 read x 1\nT1 end\n";
    text += "T2 begin get\nT2 read x 0\nT1 begin put\nT1 write x 1\nT1 end\nT2 read x 1\nT2 end\n";
  }
  CheckReport report = run(text);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].occurrences, 6u);
  EXPECT_EQ(report.cycles_seen, 6u);
}

TEST(Report, ShortCyclesComeFirstAndDotShowsThem) {
  CheckReport report =
      run("set S x y z\n" + kFigure2 +
          "T1 begin u1\nT1 read x 1\nT2 begin u2\nT2 write x 2\nT2 end\nT1 read x 2\nT1 end\n");
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_EQ(report.findings[0].units.size(), 2u);
  EXPECT_EQ(report.findings[1].units.size(), 3u);
  std::string dot = to_dot(report.findings);
  EXPECT_NE(dot.find("c1u2 -> c1u0 [label=\"WR z\"]"), std::string::npos) << dot;
}

// The grammar of Graphviz's language, as far as a picture of conflicts needs it: one statement a line.
void expect_dot(const std::string& dot) {
  size_t at = 0;
  auto blanks = [&] {
    while (at < dot.size() && (dot[at] == ' ' || dot[at] == '\n')) ++at;
  };
  auto take = [&](std::string_view word) {
    blanks();
    if (dot.compare(at, word.size(), word) != 0) return false;
    at += word.size();
    return true;
  };
  auto id = [&] {
    blanks();
    const size_t begin = at;
    if (at < dot.size() && dot[at] == '"') {
      for (++at; at < dot.size() && dot[at] != '"'; ++at) at += dot[at] == '\\';
      return at < dot.size() ? ++at, true : false;
    }
    while (at < dot.size() && (isalnum(static_cast<unsigned char>(dot[at])) || dot[at] == '_')) ++at;
    return at > begin;
  };
  auto attributes = [&] {
    if (!take("[")) return true;
    do {
      if (!id() || !take("=") || !id()) return false;
    } while (take(","));
    return take("]");
  };
  ASSERT_TRUE(take("digraph") && id() && take("{")) << dot;
  for (int depth = 1; depth > 0;) {
    if (take("}")) {
      --depth;
    } else if (take("subgraph")) {
      ASSERT_TRUE(id() && take("{")) << dot.substr(at);
      ++depth;
    } else {
      ASSERT_TRUE(id()) << dot.substr(at);
      if (take("="))
        ASSERT_TRUE(id()) << dot.substr(at);
      else if (take("->"))
        ASSERT_TRUE(id() && attributes()) << dot.substr(at);
      else
        ASSERT_TRUE(attributes()) << dot.substr(at);
      ASSERT_TRUE(take(";")) << dot.substr(at);
    }
  }
  blanks();
  EXPECT_EQ(at, dot.size());
}

TEST(Report, ThePictureIsInGraphvizsLanguageWhateverNamesThereAre) {
  CheckReport report = run("set S x y z\n" + kFigure2);
  expect_dot(to_dot(report.findings));
  expect_dot(to_dot({}));
  for (const char* name : {"operator\"\"_kg", "back\\", "a->b", "{", "x;\n}", "\\\"", "größe"}) {
    std::vector<Finding> cycles = report.findings;
    cycles[0].set = cycles[0].units[0].name = cycles[0].units[1].thread = cycles[0].edges[2].variable = name;
    expect_dot(to_dot(cycles));
    EXPECT_NE(to_dot(cycles).find("c0u2 -> c0u0"), std::string::npos) << name;
  }
}

// Two unrelated fields, each under a lock of its own: the lines that say so.
TEST(Hints, FieldsThatNoLockProtectsTogetherMayBeSetsOfTheirOwn) {
  auto hints = [](const std::string& lock_of_count) {
    std::string text =
        "main fork T1\nmain fork T2\n"
        "T1 begin push\nT1 acquire m1\nT1 write Channel::queue 1\nT1 release m1\n"
        "T2 begin pop\nT2 acquire m1\nT2 read Channel::queue 1\nT2 release m1\n"
        "T2 acquire m2\nT2 write Channel::count 1\nT2 release m2\nT2 end\n"
        "T1 acquire LOCK\nT1 read Channel::count 1\nT1 release LOCK\nT1 end\n";
    for (size_t at; (at = text.find("LOCK")) != std::string::npos;) text.replace(at, 4, lock_of_count);
    Result<Trace> trace = parse_text_trace("set Channel Channel::queue Channel::count\n" + text, "test");
    EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().sentence());
    CheckOptions options;
    TraceSource source(trace.value());
    CheckReport report = check(source, options).value();
    EXPECT_EQ(report.findings.size(), 1u);
    EXPECT_TRUE(locks_may_matter(trace.value(), options, report.findings));
    EXPECT_TRUE(add_hints(trace.value(), options, report.findings, [&] {
                  return Result<std::unique_ptr<EventSource>>(std::make_unique<TraceSource>(trace.value()));
                }).ok());
    return report.findings.empty() || report.findings[0].hints.empty() ? std::string()
                                                                       : report.findings[0].hints[0];
  };
  EXPECT_EQ(hints("m2"),
            "Channel::queue only under m1, Channel::count only under m2. If they have nothing to do with "
            "each other, say so in "
            "cleave.toml:\n[sets]\n\"Channel.queue\" = [\"Channel::queue*\"]\n\"Channel.count\" = "
            "[\"Channel::count*\"]");
  EXPECT_EQ(hints("m3").find("[sets]"), std::string::npos) << "count has no lock that is always held";
}

TEST(Report, StopAtTheFirst) {
  unsigned told = 0;
  CheckOptions options{.sets = {.one = true}, .stop_at_first = true};
  options.on_finding = [&](const Finding&) { ++told; };
  CheckReport report =
      run(kFigure2 + "T1 begin a\nT1 read x 1\nT2 write x 2\nT1 read x 2\nT1 end\n", options);
  EXPECT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(told, 1u);
}

TEST(Report, WhatIsKnownDoesNotStop) {
  CheckOptions options{.sets = {.one = true}, .stop_at_first = true};
  size_t known = 0;
  options.known = [&](const Finding& finding) { return finding.units.size() == 3 && ++known > 0; };
  CheckReport report = run(kFigure2 +
                               "T1 begin a\nT1 read x 1\nT2 write x 2\nT1 read x 2\nT1 end\nT3 begin b\nT3 "
                               "read x 2\nT2 write x 3\nT3 read x 3\nT3 end\n",
                           options);
  EXPECT_EQ(known, 1u);
  ASSERT_EQ(report.findings.size(), 2u);
  EXPECT_EQ(report.findings[0].unit, "a");
}

// A long unit that others overtake one after the other: a write after so many reads closes a cycle of every
// size.
TEST(Report, OfCyclesOfEverySizeSomeAreKeptWhole) {
  constexpr size_t kOthers = 400;
  std::string text = "set both x y\nT1 begin slow\nT1 read x 0\n";
  for (size_t i = 0; i < kOthers; ++i) text += "T2 begin fast\nT2 write x 1\nT2 read y 0\nT2 end\n";
  CheckReport report = run(text + "T1 write y 1\nT1 end\n");
  EXPECT_EQ(report.cycles_seen, kOthers);
  size_t steps = 0;
  for (const Finding& finding : report.findings) steps += finding.units.size();
  EXPECT_LE(steps, 4096u);
  EXPECT_GT(report.findings.size(), 10u);
  EXPECT_EQ(report.counted_only, kOthers - report.findings.size());
}

// `self=` declares a unit on the sets of its object, those that were made by hand of the object's fields
// among them.
TEST(Report, ASetOfFieldsOfOneObjectIsThatObjects) {
  const std::string events =
      "T1 begin look self=a\nT1 read a.checking 0\nT2 begin change self=a\nT2 write a.checking 1\nT2 write "
      "a.savings 1\nT2 end\n"
      "T1 read a.savings 1\nT1 end\n";
  EXPECT_EQ(run("set money a.checking a.savings\n" + events).findings.size(), 1u);
  EXPECT_EQ(run("set money a.checking b.savings\n" + events).findings.size(), 0u)
      << "of two objects it is neither's";
}

TEST(Report, AnAccessInNoUnitIsAUnitOfItsOwn) {
  CheckReport report = run("T1 begin inc\nT1 read n 0\nT2 write n 5\nT1 write n 1\nT1 end\n");
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].edges.size(), 2u);
}

TEST(Wait, SplittingUnitsAtWaitsIsWorthIt) {
  std::string text =
      "T1 begin take\nT1 acquire m\nT1 read n 0\nT1 wait c m\n"
      "T2 begin put\nT2 acquire m\nT2 read n 0\nT2 write n 1\nT2 signal c\nT2 release m\nT2 end\n"
      "T1 wake c m\nT1 read n 1\nT1 write n 0\nT1 release m\nT1 end\n";
  EXPECT_TRUE(run(text).findings.empty());
  EXPECT_EQ(run(text, {.units = {.split_at_waits = false}}).findings.size(), 1u);
}

}  // namespace
}  // namespace cleave::conflict
