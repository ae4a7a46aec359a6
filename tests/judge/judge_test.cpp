#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "judge/judge.h"
#include "oracle/generator.h"
#include "trace/text/text.h"

namespace cleave::judge {
namespace {

Trace parsed(std::string_view text) {
  Result<Trace> trace = parse_text_trace(std::string(kTextTraceHeader) + "\n" + std::string(text), "test");
  EXPECT_TRUE(trace.ok()) << trace.error().sentence();
  return std::move(trace).value();
}

// Judges the first triple of the trace: the unit's accesses around another thread's, all to x.
Proof judged(const Trace& trace, const JudgeOptions& options = {}) {
  const std::vector<UnitSpan> units = units_of(trace);
  for (uint64_t i = 0; i < trace.size(); ++i) {
    for (uint64_t j = i + 1; j < trace.size(); ++j) {
      for (uint64_t k = j + 1; k < trace.size(); ++k) {
        const Event &a = trace.events()[i], &b = trace.events()[j], &c = trace.events()[k];
        if (!is_access(a.kind) || !is_access(b.kind) || !is_access(c.kind)) continue;
        if (a.object != b.object || a.object != c.object || a.thread != c.thread || a.thread == b.thread)
          continue;
        if (pattern_of(a.kind, b.kind, c.kind) == Pattern::None) continue;
        const bool in_unit = std::any_of(units.begin(), units.end(), [&](const UnitSpan& unit) {
          return unit.thread == a.thread && unit.first <= EventIndex{i} && EventIndex{i} <= unit.last;
        });
        if (!in_unit) continue;
        return Judge(trace, units, options).judge({EventIndex{i}, EventIndex{j}, EventIndex{k}});
      }
    }
  }
  ADD_FAILURE() << "no triple in the trace";
  return {};
}

TEST(Judge, LostUpdate) {
  const Trace trace = parsed(R"(
    A begin withdraw
    A read  x 0
    B write x 1
    A write x 2
    A end)");
  const Proof proof = judged(trace);
  EXPECT_EQ(proof.judgement, Judgement::NonAtomic);
  EXPECT_EQ(proof.name, "C_RWW");
  EXPECT_NE(proof.why.find("withdraw read 0 from x"), std::string::npos) << proof.why;
  const Proof weaker = judged(trace, {.final_writes = false});
  EXPECT_EQ(weaker.judgement, Judgement::Atomic) << "without final writes B's write can stand anywhere";
  ASSERT_EQ(weaker.serial_order.size(), 2u);
}

TEST(Judge, UnrepeatableRead) {
  EXPECT_EQ(judged(parsed("A begin u\nA read x 0\nB write x 1\nA read x 1\nA end")).name, "C_RWR");
  EXPECT_EQ(judged(parsed("A begin u\nA write x 5\nB write x 1\nA read x 1\nA end")).name, "C_WWR");
}

// The sentence of a proof writes values as the accesses of the finding do, and speaks of what these have.
TEST(Judge, ValuesAreWrittenAsInTheFinding) {
  const Proof pointer = judged(
      parsed("A begin u\nA read p 140737488000000\nB write p 0\nA read p 0\nA end\ninit p 140737488000000"));
  EXPECT_NE(pointer.why.find("got 0x7ffffffa9400, then 0"), std::string::npos) << pointer.why;
  EXPECT_EQ(pointer.why.find("140737488000000"), std::string::npos) << pointer.why;
  // The unit's last write counts, not the first access of the triple.
  const Proof last =
      judged(parsed("A begin u\nA write x 400\nA write x 300\nB write x 1\nA read x 1\nA end"));
  EXPECT_NE(last.why.find("u last wrote 300 to x"), std::string::npos) << last.why;
}

TEST(Judge, DirtyRead) {
  EXPECT_EQ(judged(parsed("A begin u\nA write x 5\nB read x 5\nA write x 6\nA end")).name, "C_WRW");
}

TEST(Judge, TheCounterexamplesToThePrintedConditionsAreAtomic) {
  // A third thread's write of the same value, or the initial value, explains what B read.
  for (const char* text : {"A begin u\nA write x 0\nC write x 0\nB read x 0\nA write x 1\nA end",
                           "A begin u\nA write x 0\nB read x 0\nA write x 1\nA end",
                           // AtomChase figure 4: B itself had written it before.
                           "B write x 7\nA begin u\nA write x 7\nB read x 7\nA write x 8\nA end"}) {
    const Proof proof = judged(parsed(text));
    EXPECT_EQ(proof.judgement, Judgement::Atomic) << text << proof.name;
    EXPECT_FALSE(proof.serial_order.empty());
  }
}

TEST(Judge, WriteBetweenWritesIsAtomicOnItsOwn) {
  const Proof proof = judged(parsed("A begin u\nA write x 1\nB write x 2\nA write x 3\nA end"));
  EXPECT_EQ(proof.judgement, Judgement::Atomic);
  EXPECT_EQ(proof.pattern, Pattern::WWW);
}

TEST(Judge, TwoUnitsThatReadTheSameValueBothLoseIt) {
  // Both incremented 0: no value tells who was last, but neither can have come second.
  const Proof proof = judged(parsed(R"(
    A begin inc
    A read  x 0
    B begin inc
    B read  x 0
    B write x 1
    B end
    A write x 1
    A end)"));
  EXPECT_EQ(proof.judgement, Judgement::NonAtomic);
  EXPECT_EQ(proof.name, "C_count");
}

TEST(Judge, ALostUpdateIsProvedHoweverLongTheRunGoesOn) {
  // The values come again and again afterwards; what main wrote before the threads began is there once, not
  // twice.
  std::string text = "main write x 0\nmain fork A\nmain fork B\nA begin inc\nA read x 0\n";
  auto increments = [&text](const char* thread, int from, int to) {
    for (int v = from; v < to; ++v)
      text += fmt::format("{0} begin inc\n{0} read x {1}\n{0} write x {2}\n{0} end\n", thread, v, v + 1);
  };
  increments("B", 0, 300);
  text += "A write x 1\nA end\n";
  increments("A", 1, 300);
  increments("B", 300, 400);
  const Trace trace = parsed(text);
  EventTriple triple{};
  for (size_t e = 0; e < trace.size(); ++e) {
    const Event& event = trace.events()[e];
    if (trace.thread(event.thread).name == "B" && event.kind == EventKind::Write && event.value == 300) {
      triple.remote = EventIndex{e};
      triple.second = EventIndex{e + 2};
      break;
    }
  }
  triple.first = EventIndex{4};
  Judge judge(trace, units_of(trace));
  const Proof quick = judge.conditions(triple);
  EXPECT_EQ(quick.judgement, Judgement::NonAtomic) << quick.reason;
  EXPECT_EQ(quick.name, "C_count");
  EXPECT_NE(quick.why.find("only once"), std::string::npos) << quick.why;
  EXPECT_EQ(judge.exact(triple).judgement, Judgement::NonAtomic) << "and the search sees it too";
}

TEST(Judge, InitialisationBeforeTheForkCannotExplainAnything) {
  const Proof proof = judged(parsed(R"(
    main write x 10
    main fork A
    main fork B
    A begin u
    A read  x 10
    B write x 5
    A write x 9
    A end)"));
  EXPECT_EQ(proof.judgement, Judgement::NonAtomic);
  EXPECT_EQ(proof.name, "C_pair");
}

TEST(Judge, TwoLocationsProveWhatOneCannot) {
  // On x alone B could come first; on y it came second.
  const Proof proof = judged(parsed(R"(
    A begin reset
    A write x 1
    B begin swap
    B write x 2
    B read  y 0
    B end
    A write x 3
    A write y 4
    A end
    C read y 4
    C read x 3)"));
  EXPECT_EQ(proof.judgement, Judgement::Atomic) << "B before A explains it";
  const Proof other = judged(parsed(R"(
    A begin reset
    A write y 4
    A write x 1
    B begin swap
    B write x 2
    B read  y 4
    B end
    A write x 3
    A end)"));
  EXPECT_EQ(other.judgement, Judgement::NonAtomic);
  EXPECT_EQ(other.name, "C_pair");
}

TEST(Judge, ThreeUnitsNeedTheExactMethod) {
  // A must be before C (y), C before B (z), B before A (A reads B's x early): only together they contradict.
  const Proof proof = judged(parsed(R"(
    A begin u
    A write x 1
    A write y 1
    C begin v
    C read  y 1
    C write z 1
    C end
    B begin w
    B read  z 1
    B write x 2
    B end
    A write x 3
    A end)"));
  EXPECT_EQ(proof.judgement, Judgement::NonAtomic);
  EXPECT_EQ(proof.name, "exact");
  EXPECT_GT(proof.states, 0u);
}

TEST(Judge, AUnitThatForksAndJoinsIsNoProofByItself) {
  const Proof proof = judged(parsed(R"(
    main begin run
    main write x 1
    main fork  T
    T    write x 2
    main join  T
    main write x 3
    main end)"));
  EXPECT_EQ(proof.judgement, Judgement::Atomic);
}

TEST(Judge, WaitingSplitsTheUnit) {
  const Trace trace = parsed(R"(
    A begin u
    A acquire m
    A read x 0
    A wait c m
    B write x 1
    B signal c
    A wake c m
    A read x 1
    A release m
    A end)");
  const std::vector<UnitSpan> units = units_of(trace);
  ASSERT_EQ(units.size(), 2u);
  EXPECT_EQ(units[0].last, EventIndex{3});
  EXPECT_EQ(units[1].first, EventIndex{6});
  const Proof proof = judged(trace);
  EXPECT_EQ(proof.judgement, Judgement::Undecided);
  EXPECT_EQ(proof.reason, "the two accesses are not in one unit");
}

TEST(Judge, UnitsAroundTheTriplesUnitAreAnotherQuestion) {
  // Each deposit is atomic; that the whole workers are not is no fault of deposit.
  const Trace trace = parsed(R"(
    A begin worker
    B begin worker
    A begin deposit
    A read  x 0
    A write x 1
    A end
    B begin deposit
    B read  x 1
    B write x 2
    B end
    A begin deposit
    A read  x 2
    A write x 3
    A end
    A end
    B end)");
  Judge judge(trace, units_of(trace));
  // The triple of the two workers: A read 1, B write 2, A read 2 lies in worker, not in one deposit.
  EXPECT_EQ(judge.judge({EventIndex{4}, EventIndex{8}, EventIndex{11}}).judgement, Judgement::NonAtomic);
  const Trace lost = parsed(R"(
    A begin worker
    A write y 1
    A begin deposit
    A read  x 0
    B begin worker
    B write y 2
    B begin deposit
    B write x 5
    B end
    B read  y 2
    B end
    A write x 1
    A end
    A write y 3
    A end)");
  Judge second(lost, units_of(lost));
  const Proof proof = second.judge({EventIndex{3}, EventIndex{7}, EventIndex{11}});
  EXPECT_EQ(proof.judgement, Judgement::NonAtomic);
  EXPECT_EQ(proof.name, "C_RWW");
}

TEST(Judge, ValuesThatNobodyWroteProveNothing) {
  const Proof proof = judged(parsed("init x 0\nA begin u\nA read x 0\nB write x 1\nA read x 7\nA end"));
  EXPECT_EQ(proof.judgement, Judgement::Undecided);
  EXPECT_NE(proof.reason.find("no recorded write"), std::string::npos);
}

TEST(Judge, TheBudgetIsKept) {
  // Writes that nobody reads can stand anywhere before A: there are far more orders than the budget allows.
  std::string text;
  for (int i = 0; i < 40; ++i) text += fmt::format("T{} write x {}\n", i % 8, 100 + i);
  text +=
      "A begin u\nA write x 1\nA write y 1\nC begin v\nC read y 1\nC write z 1\nC end\n"
      "B begin w\nB read z 1\nB write x 2\nB end\nA write x 3\nA end\n";
  const Proof proof = judged(parsed(text), {.budget = 1000});
  EXPECT_EQ(proof.judgement, Judgement::Undecided);
  EXPECT_EQ(proof.reason, "the search for a serial order stopped at its budget of 1000 states");
}

TEST(Judge, WrongQuestionsAreRefused) {
  const Trace trace = parsed("A begin u\nA read x 0\nB write x 1\nA write x 2\nA end\nB write y 1");
  Judge judge(trace, units_of(trace));
  EXPECT_EQ(judge.judge({EventIndex{2}, EventIndex{1}, EventIndex{3}}).judgement, Judgement::Undecided);
  EXPECT_EQ(judge.judge({EventIndex{1}, EventIndex{5}, EventIndex{99}}).judgement, Judgement::Undecided);
  EXPECT_EQ(judge.judge({EventIndex{0}, EventIndex{2}, EventIndex{3}}).judgement, Judgement::Undecided);
}

TEST(FindTriple, BySitesWithinOneUnitAndInOrder) {
  const Trace trace = parsed(R"(
    A begin u
    A read  x 0  @bank.c:1
    A end
    B write x 1  @bank.c:2
    A begin u
    A write x 2  @bank.c:3
    A read  x 2  @bank.c:1
    B write x 3  @bank.c:2
    A write x 4  @bank.c:3
    A end)");
  SiteTriple sites{.first = {.file = "bank.c", .line = 1},
                   .remote = {.file = "bank.c", .line = 2},
                   .second = {.file = "bank.c", .line = 3}};
  const std::vector<UnitSpan> units = units_of(trace);
  EXPECT_EQ(find_triple(trace, units, sites), (EventTriple{EventIndex{6}, EventIndex{7}, EventIndex{8}}));
  sites.remote_thread = "C";
  EXPECT_EQ(find_triple(trace, units, sites), std::nullopt);
  sites.remote_thread = "B";
  sites.unit_thread = "A";
  EXPECT_NE(find_triple(trace, units, sites), std::nullopt);
  std::swap(sites.first, sites.second);
  EXPECT_EQ(find_triple(trace, units, sites), std::nullopt);
}

}  // namespace
}  // namespace cleave::judge
