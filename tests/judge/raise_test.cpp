#include "judge/raise.h"

#include <gtest/gtest.h>

#include "trace/text/text.h"

namespace cleave::judge {
namespace {

Trace parsed(std::string_view text) {
  Result<Trace> trace = parse_text_trace(std::string(kTextTraceHeader) + "\n" + std::string(text), "test");
  EXPECT_TRUE(trace.ok()) << trace.error().sentence();
  return std::move(trace).value();
}

Finding predicted() {
  Finding finding;
  finding.pattern = Pattern::RWW;
  finding.verdict = Verdict::Feasible;
  finding.accesses = {
      {.role = Role::First, .thread = "T1", .op = "read", .value = "0", .file = "bank.c", .line = 1},
      {.role = Role::Remote, .thread = "T2", .op = "write", .value = "7", .file = "bank.c", .line = 2},
      {.role = Role::Second, .thread = "T1", .op = "write", .value = "9", .file = "bank.c", .line = 3}};
  return finding;
}

Raised raise(const Trace& trace, Finding& finding, const JudgeOptions& options = {}) {
  return raise_verdict(trace, units_of(trace), options, finding);
}

TEST(Raise, ConfirmedWithWhatHappenedInThatExecution) {
  Finding finding = predicted();
  const Trace trace = parsed(R"(
    A begin withdraw
    A read  x 20  @bank.c:1
    B write x 5   @bank.c:2
    A write x 10  @bank.c:3
    A end)");
  EXPECT_EQ(raise(trace, finding), Raised::Confirmed);
  EXPECT_EQ(finding.verdict, Verdict::Confirmed);
  EXPECT_EQ(finding.proof, "C_RWW");
  EXPECT_EQ(finding.accesses[0].thread, "A");
  EXPECT_EQ(finding.accesses[0].value, "20");
  EXPECT_EQ(finding.accesses[1].value, "5");
  EXPECT_NE(finding.why.find("withdraw"), std::string::npos);
}

TEST(Raise, NotThereLeavesTheFindingAlone) {
  Finding finding = predicted();
  const Trace serial = parsed(R"(
    A begin withdraw
    A read  x 0  @bank.c:1
    A write x 1  @bank.c:3
    A end
    B write x 5  @bank.c:2)");
  EXPECT_EQ(raise(serial, finding), Raised::NotThere);
  EXPECT_EQ(finding.verdict, Verdict::Feasible);
  EXPECT_EQ(finding.accesses[0].thread, "T1");
}

TEST(Raise, ALaterOccurrenceCounts) {
  // On one account B writes what was there already; on the other the update is lost.
  Finding finding = predicted();
  const Trace trace = parsed(R"(
    A begin withdraw
    A read  y 20  @bank.c:1
    B write y 20  @bank.c:2
    A write y 10  @bank.c:3
    A end
    A begin withdraw
    A read  x 10  @bank.c:1
    B write x 5   @bank.c:2
    A write x 3   @bank.c:3
    A end)");
  EXPECT_EQ(raise(trace, finding), Raised::Confirmed);
  EXPECT_EQ(finding.accesses[1].value, "5");
}

TEST(Raise, AtomicAfterAllIsSaid) {
  Finding finding = predicted();
  const Trace trace = parsed(R"(
    A begin withdraw
    A read  x 20  @bank.c:1
    B write x 20  @bank.c:2
    A write x 10  @bank.c:3
    A end)");
  EXPECT_EQ(raise(trace, finding), Raised::AtomicAfterAll);
  EXPECT_EQ(finding.verdict, Verdict::Feasible);
  Finding weaker = predicted();
  const Trace lost =
      parsed("A begin w\nA read x 0 @bank.c:1\nB write x 1 @bank.c:2\nA write x 2 @bank.c:3\nA end");
  EXPECT_EQ(raise(lost, weaker, {.final_writes = false}), Raised::AtomicAfterAll);
}

TEST(Raise, UndecidedStaysWitnessedAndSaysWhy) {
  Finding finding = predicted();
  const Trace trace = parsed(R"(
    init x 0
    A begin withdraw
    A read  x 99  @bank.c:1
    B write x 5   @bank.c:2
    A write x 10  @bank.c:3
    A end)");
  EXPECT_EQ(raise(trace, finding), Raised::Witnessed);
  EXPECT_EQ(finding.verdict, Verdict::Witnessed);
  EXPECT_NE(finding.note.find("no recorded write"), std::string::npos);
  EXPECT_TRUE(finding.proof.empty());
}

TEST(Raise, UnitsOfTheModelAreTaken) {
  const Trace trace = parsed(R"(
    A begin withdraw
    A read  x 20  @bank.c:1
    B write x 5   @bank.c:2
    A write x 10  @bank.c:3
    A end)");
  SetMap sets(SetOptions{}, trace);
  const UnitMap map = map_units(trace, UnitOptions{}, sets);
  Finding finding = predicted();
  EXPECT_EQ(raise_verdict(trace, spans_of(trace, map.units), {}, finding), Raised::Confirmed);
}

}  // namespace
}  // namespace cleave::judge
