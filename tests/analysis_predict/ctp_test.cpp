// CTP's figure 1, and its benchmark programs as text traces: the column "w/o Data" is stages patterns, order,
// locks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support.h"

namespace cleave::prediction {
namespace {

TEST(CtpFigure1, DataRulesOutTheFirst) {
  Predicted p(R"(
T1 begin atomic
T1 read  x 0
T1 write x 1
T1 end
T2 read  x 1
T2 branch 1
T2 write x 5
)");
  ASSERT_EQ(p.triples("locks"), 1u) << "without data it looks like a violation";
  EXPECT_EQ(p.prediction.candidates[0].verdict(), Verdict::Infeasible);
}

TEST(CtpFigure1, SignalRulesOutTheSecond) {
  Predicted p(R"(
T2 acquire m
T2 wait c m
T1 begin atomic
T1 write x 1
T1 read  x 1
T1 end
T1 signal c
T2 wake c m
T2 release m
T2 write x 3
)");
  EXPECT_EQ(p.triples("patterns"), 1u);
  EXPECT_EQ(p.triples("order"), 0u);
}

TEST(CtpFigure1, WithoutTheSignalTheSecondIsReal) {
  Predicted p("T1 begin atomic\nT1 write x 1\nT1 read x 1\nT1 end\nT2 write x 3\n");
  ASSERT_EQ(p.prediction.candidates.size(), 1u);
  EXPECT_EQ(p.prediction.candidates[0].verdict(), Verdict::Feasible);
}

// A serial run of the programs of the CTP set: main forks, each thread runs to its end, main joins.
class Program {
 public:
  void line(const std::string& thread, const std::string& rest) { text_ += thread + " " + rest + "\n"; }
  void section(const std::string& thread, const std::string& lock, const std::vector<std::string>& body) {
    line(thread, "acquire " + lock);
    for (const std::string& each : body) line(thread, each);
    line(thread, "release " + lock);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Reference count: decrement under the lock, test outside.
Program atom001(bool fixed) {
  Program p;
  p.line("init", "refcnt 2");
  p.line("main", "fork T1");
  p.line("main", "fork T2");
  p.line("T1", "begin transaction");
  p.section("T1", "m", {"read refcnt 2", "write refcnt 1"});
  p.line("T1", "read refcnt 1");
  p.line("T1", "branch 1");
  p.line("T1", "end");
  if (fixed) {  // hand-over by flag and condition; nobody had to wait in this run
    p.section("T1", "h", {"write done 1", "signal c"});
    p.section("T2", "h", {"read done 1", "branch 1"});
  }
  p.section("T2", "m", {"read refcnt 1", "write refcnt 0"});
  p.line("T2", "read refcnt 0");
  p.line("T2", "branch 1");
  p.line("main", "join T1");
  p.line("main", "join T2");
  return p;
}

TEST(CtpPrograms, Atom001) {
  Predicted p(atom001(false).text());
  EXPECT_EQ(p.triples("order"), 2u);
  EXPECT_EQ(p.triples("locks"), 1u);
  // The other thread's read before its write reads what the unit wrote at its first access. As printed,
  // AVFilter lets that pass; corrected it does not, since it takes the three accesses to follow one another
  // directly.
  EXPECT_EQ(p.sites("filter"), 0u);
  EXPECT_EQ(p.sites("exact"), 0u);
  EXPECT_EQ(p.by_value(), 1u);
}

TEST(CtpPrograms, Atom001aIsRefutedByTheFilter) {
  Predicted p(atom001(true).text());
  EXPECT_EQ(p.triples("order"), 2u);
  EXPECT_EQ(p.triples("locks"), 1u);
  EXPECT_EQ(p.sites("filter"), 0u);
  EXPECT_EQ(p.sites("exact") + p.by_value(), 0u);
}

// Log buffer: each character reads the position, stores, writes the position.
Program atom002(bool fixed) {
  Program p;
  int next = 0;
  auto append = [&](const std::string& thread, int characters) {
    for (int c = 0; c < characters; ++c) {
      p.line(thread, fmt::format("read outcnt {}", next));
      p.line(thread, fmt::format("write outbuf{} 7", next));
      p.line(thread, fmt::format("write outcnt {}", ++next));
    }
  };
  p.line("main", "fork T1");
  p.line("main", "fork T2");
  p.line("T1", "begin record");
  append("T1", 6);
  p.line("T1", "end");
  if (fixed) {
    p.section("T1", "h", {"write done 1", "signal c"});
    p.section("T2", "h", {"read done 1", "branch 1"});
  }
  append("T2", 3);
  p.line("main", "join T1");
  p.line("main", "join T2");
  return p;
}

TEST(CtpPrograms, Atom002) {
  Predicted p(atom002(false).text());
  EXPECT_EQ(p.triples("locks"), 33u);
  EXPECT_EQ(p.sites("filter"), 0u)
      << "AVFilter is known to miss it: the remote thread reads what the unit wrote";
}

TEST(CtpPrograms, Atom002a) {
  Predicted p(atom002(true).text());
  EXPECT_EQ(p.triples("locks"), 33u);
  EXPECT_EQ(p.sites("filter"), 0u);
  EXPECT_EQ(p.sites("exact") + p.by_value(), 0u);
}

enum class Bank { Broken, Partly, Fixed };

// k accounts in a ring; thread i moves money from account i to i + 1: read, write and verify in separate
// critical sections of the account's lock, inside the thread's own.
Program bank(int k, Bank kind) {
  Program p;
  std::vector<int> balance(static_cast<size_t>(k), 100);
  for (int i = 0; i < k; ++i) p.line("init", fmt::format("b{} 100", i));
  for (int i = 0; i < k; ++i) p.line("main", fmt::format("fork T{}", i));
  for (int i = 0; i < k; ++i) {
    std::string t = fmt::format("T{}", i);
    p.line(t, "begin transfer");
    p.line(t, fmt::format("acquire branch{}", i));
    if (kind == Bank::Fixed) p.section(t, "guard", {fmt::format("read busy 0"), "branch 1", "write busy 1"});
    for (int step = 0; step < 2; ++step) {
      int account = (i + step) % k, amount = step == 0 ? -10 : 10;
      std::string lock = fmt::format("L{}", account), variable = fmt::format("b{}", account);
      int& money = balance[static_cast<size_t>(account)];
      if (kind == Bank::Partly && step == 1)
        p.section(t, lock + "g", {fmt::format("write depositing{} 1", account)});
      p.section(t, lock, {fmt::format("read {} {}", variable, money)});
      if (kind == Bank::Partly && step == 0) {
        int flag = 0;
        p.section(t, lock + "g", {fmt::format("read depositing{} {}", account, flag), "branch 1"});
      }
      money += amount;
      p.section(t, lock, {fmt::format("write {} {}", variable, money)});
      p.section(t, lock, {fmt::format("read {} {}", variable, money)});
      if (kind == Bank::Partly && step == 1)
        p.section(t, lock + "g", {fmt::format("write depositing{} 0", account)});
    }
    if (kind == Bank::Fixed) p.section(t, "guard", {"write busy 0"});
    p.line(t, fmt::format("release branch{}", i));
    p.line(t, "end");
  }
  for (int i = 0; i < k; ++i) p.line("main", fmt::format("join T{}", i));
  return p;
}

// Triples on the accounts alone; the guards' own variables are beside the point.
uint64_t on_accounts(const Predicted& p, Mark Candidate::* mark) {
  uint64_t count = 0;
  for (const Candidate& candidate : p.prediction.candidates) {
    const Event& event = p.facts.event(candidate.triple().first);
    if (p.trace.variable(event.variable()).name[0] != 'b' ||
        p.trace.variable(event.variable()).name == "busy")
      continue;
    if (candidate.reached != Reached::Locks) continue;
    if (!mark || candidate.*mark == Mark::Kept || candidate.*mark == Mark::ByValue) ++count;
  }
  return count;
}

TEST(CtpPrograms, BanksWithoutDataAre4k) {
  for (int k : {2, 4, 6, 8}) {
    SCOPED_TRACE(k);
    for (Bank kind : {Bank::Broken, Bank::Partly, Bank::Fixed}) {
      Predicted p(bank(k, kind).text());
      uint64_t want = k == 2 ? 8u : 4u * static_cast<uint64_t>(k);
      EXPECT_EQ(on_accounts(p, nullptr), want);
    }
  }
}

TEST(CtpPrograms, BrokenBankHasFeasibleTriplesOnTheAccounts) {
  Predicted p(bank(8, Bank::Broken).text());
  std::set<std::string> variables;
  for (const Candidate& candidate : p.prediction.candidates) {
    if (candidate.verdict() == Verdict::Feasible) {
      variables.insert(p.trace.variable(p.facts.event(candidate.triple().first).variable()).name);
    }
  }
  // Not on account 0: the way from the first to the last thread around the ring passes money on through every
  // account, and only symbolic values show that no branch depends on it.
  EXPECT_EQ(variables.size(), 7u);
}

TEST(CtpPrograms, FixedBankHasNoFeasibleTripleOnAnAccount) {
  for (int k : {2, 4, 8}) {
    Predicted p(bank(k, Bank::Fixed).text());
    EXPECT_EQ(on_accounts(p, &Candidate::exact), 0u);
    EXPECT_EQ(on_accounts(p, &Candidate::filter), 0u);
  }
}

}  // namespace
}  // namespace cleave::prediction
