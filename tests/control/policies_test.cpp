// Every policy runs every modelled operation to the right result, and a replay of it is the same run.
#include "control/running.h"

#include <cstdlib>

namespace cleave::exec {
namespace {

class EveryPolicy : public ::testing::TestWithParam<Policy> {};

TEST_P(EveryPolicy, RunsEveryModelledOperation) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    RunOutcome outcome = must_run(request("everything", GetParam(), seed));
    EXPECT_EQ(outcome.sentence(), "exit status 0") << "seed " << seed << "\n" << outcome.text;
    EXPECT_EQ(outcome.schedule.threads.size(), serialised(GetParam()) ? 5u : 0u);
  }
}
INSTANTIATE_TEST_SUITE_P(All, EveryPolicy,
                         ::testing::Values(Policy::Free, Policy::Serial, Policy::Random, Policy::Pct,
                                           Policy::Noise, Policy::Pos, Policy::Rf, Policy::Reverse,
                                           Policy::First),
                         [](const auto& info) { return std::string(word_of(info.param)); });

TEST(Serial, DoesNotPreempt) {
  RunOutcome outcome = must_run(request("lost_update", Policy::Serial));
  EXPECT_EQ(outcome.exit_status, 0);
  for (const auto& run : outcome.schedule.runs) EXPECT_NE(run.how, Handover::Preempted);
}

// Nothing but the seed decides: no clock, no load of the machine. CLEAVE_REPEATS asks for more than `make
// test` does.
class SameSeed : public ::testing::TestWithParam<Policy> {};

TEST_P(SameSeed, IsTheSameRunEveryTime) {
  const char* asked = std::getenv("CLEAVE_REPEATS");
  unsigned repeats = asked != nullptr ? static_cast<unsigned>(std::strtoul(asked, nullptr, 10)) : 4;
  for (const char* program : {"lost_update", "everything", "timed", "detached", "many_threads"}) {
    for (uint64_t seed = 1; seed <= (GetParam() == Policy::Serial ? 1 : 2); ++seed) {
      RunRequest some = request(program, GetParam(), seed);
      if (std::string_view(program) == "many_threads") some.program.push_back("40");
      RunOutcome first = must_run(some);
      for (unsigned i = 1; i < repeats; ++i) {
        RunOutcome other = must_run(some);
        ASSERT_EQ(first.sentence(), other.sentence()) << program << " seed " << seed << " repeat " << i;
        ASSERT_EQ(first.schedule.runs, other.schedule.runs) << program << " seed " << seed << " repeat " << i;
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, SameSeed,
                         ::testing::Values(Policy::Serial, Policy::Random, Policy::Pct, Policy::Pos,
                                           Policy::Reverse, Policy::First),
                         [](const auto& info) { return std::string(word_of(info.param)); });

TEST(Random, FindsTheLostUpdateAndSoDoPctAndPos) {
  for (Policy policy : {Policy::Random, Policy::Pct, Policy::Pos}) {
    unsigned lost = 0;
    for (uint64_t seed = 1; seed <= 100; ++seed) {
      RunRequest some = request("lost_update", policy, seed);
      some.pct_points = 27;
      lost += must_run(some).exit_status == 1;
    }
    EXPECT_GT(lost, 0u) << word_of(policy);
    EXPECT_LT(lost, 100u) << word_of(policy);
  }
}

TEST(Random, WakesWithoutAReasonOnlyIfAsked) {
  unsigned woken = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    RunRequest some = request("spurious", Policy::Random, seed);
    EXPECT_EQ(must_run(some).exit_status, 0) << seed;
    some.spurious = true;
    RunOutcome outcome = must_run(some);
    if (outcome.exit_status == 0) continue;
    EXPECT_EQ(outcome.exit_status, 7) << seed;
    EXPECT_EQ(must_run(again(some, outcome)).exit_status, 7) << seed;
    ++woken;
  }
  EXPECT_GT(woken, 0u);
}

TEST(Replay, IsTheSameRun) {
  for (const char* program :
       {"lost_update", "everything", "pinned", "sockets", "signal_lock", "detached", "forks"}) {
    for (Policy policy : {Policy::Serial, Policy::Random}) {
      RunRequest first = request(program, policy, 3);
      RunOutcome recorded = must_run(first);
      RunOutcome replayed = must_run(again(first, recorded));
      EXPECT_EQ(replayed.sentence(), recorded.sentence()) << program << "\n" << replayed.text;
      EXPECT_EQ(replayed.schedule.fingerprints, recorded.schedule.fingerprints) << program;
    }
  }
}

TEST(Replay, FindsTheSameInMemoryThatWasNeverWritten) {
  for (Policy policy : {Policy::Random, Policy::Pct}) {
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      RunRequest first = request("padding", policy, seed);
      RunOutcome recorded = must_run(first);
      RunOutcome replayed = must_run(again(first, recorded));
      ASSERT_EQ(replayed.sentence(), "exit status 0") << word_of(policy) << " seed " << seed << "\n"
                                                      << replayed.text;
      EXPECT_EQ(replayed.schedule.fingerprints, recorded.schedule.fingerprints);
    }
  }
}

// Serial lets many accesses be recorded before it looks at them; a replay comes to every one. Both have the
// same points.
TEST(Replay, ComparesEveryPointOfALongStretch) {
  RunRequest first = request("long_stretch", Policy::Serial);
  RunOutcome recorded = must_run(first);
  EXPECT_EQ(recorded.sentence(), "exit status 0");
  EXPECT_GT(recorded.schedule.points(), 400000u);  // beyond those that are kept in full
  RunOutcome replayed = must_run(again(first, recorded));
  EXPECT_EQ(replayed.sentence(), "exit status 0") << replayed.text;
  EXPECT_EQ(replayed.schedule.fingerprints, recorded.schedule.fingerprints);
  EXPECT_EQ(replayed.schedule.runs, recorded.schedule.runs);
  EXPECT_LT(recorded.schedule.fingerprints.size(), recorded.schedule.points() / 2);
  // Another value at one access, late in the first of two threads: the points before it agree, and no more.
  RunRequest other = again(first, recorded);
  other.environment["CHANGED"] = "yes";
  RunOutcome differs = must_run(other);
  EXPECT_EQ(differs.end, RunEnd::Diverged);
  EXPECT_LT(differs.schedule.points(), recorded.schedule.points() / 2);
  EXPECT_GT(differs.schedule.points(), recorded.schedule.points() / 3);
  EXPECT_NE(differs.text.find("long_stretch.cpp"), std::string::npos) << differs.text;
}

// One waits for the other in a loop of plain accesses: nobody preempts it, and yet it has to let the other
// run.
TEST(Serial, LetsOthersRunWhileOneSpins) {
  for (const char* how : {"spin", "crash"}) {
    RunRequest first = request("long_stretch", Policy::Serial);
    first.program.push_back(how);
    first.time_limit = std::chrono::seconds(60);
    RunOutcome recorded = must_run(first);
    EXPECT_EQ(recorded.sentence(),
              how == std::string("spin") ? "exit status 0" : "signal 11 (Segmentation fault)");
    RunOutcome replayed = must_run(again(first, recorded));
    EXPECT_EQ(replayed.sentence(), recorded.sentence()) << how << "\n" << replayed.text;
  }
}

TEST(Signals, WaitUntilTheirThreadHasTheTurn) {
  for (Policy policy : {Policy::Serial, Policy::Random, Policy::Pct, Policy::Noise, Policy::Free}) {
    RunOutcome outcome = must_run(request("alarms", policy, 5));
    EXPECT_EQ(outcome.exit_status, 0) << word_of(policy) << ": " << outcome.sentence() << "\n"
                                      << outcome.text;
  }
}

TEST(Replay, SurvivesAddressRandomization) {
  RunRequest first = request("everything", Policy::Random, 3);
  RunOutcome recorded = must_run(first);
  for (int round = 0; round < 3; ++round) {
    RunRequest second = again(first, recorded);
    second.random_addresses = true;
    RunOutcome replayed = must_run(second);
    EXPECT_EQ(replayed.sentence(), recorded.sentence()) << replayed.text;
  }
}

TEST(Replay, ComesToTheSameBadEnd) {
  struct Case {
    const char* program;
    RunEnd end;
    const char* text;
  };
  for (const Case& bad :
       {Case{"deadlock", RunEnd::Deadlock,
             "waits for the mutex left, which thread 0.1 has: call of pthread_mutex_lock"},
        Case{"deadlock_beside", RunEnd::Deadlock, "waits for the mutex left, which thread 0.2 has"},
        Case{"lost_wakeup", RunEnd::Deadlock, "lost wake-up"},
        Case{"livelock", RunEnd::Livelock, "thread 0.2 could go on"}, Case{"crash", RunEnd::Signalled, ""}}) {
    RunRequest first = request(bad.program, Policy::Random);
    RunOutcome recorded = find_end(first, bad.end);
    EXPECT_NE(recorded.text.find(bad.text), std::string::npos) << recorded.text;
    RunOutcome replayed = must_run(again(first, recorded));
    EXPECT_EQ(replayed.sentence(), recorded.sentence()) << bad.program << "\n" << replayed.text;
    EXPECT_EQ(replayed.schedule.points(), recorded.schedule.points()) << bad.program;
  }
}

TEST(Threads, MayBeThousands) {
  RunRequest first = request("many_threads", Policy::Random);
  first.program.push_back("3000");
  RunOutcome recorded = must_run(first);
  EXPECT_EQ(recorded.sentence(), "exit status 0");
  EXPECT_EQ(recorded.schedule.threads.size(), 3001u);
  EXPECT_EQ(must_run(again(first, recorded)).sentence(), "exit status 0");
}

TEST(Inputs, AreTheProgramsOwnUnlessChosen) {
  RunRequest some = request("inputs", Policy::Serial);
  EXPECT_EQ(must_run(some).exit_status, 3);
  some.inputs["amount"] = "5";
  EXPECT_EQ(must_run(some).exit_status, 5);
  some.inputs["text"] = "xyz";
  RunOutcome recorded = must_run(some);
  EXPECT_EQ(recorded.exit_status, 9);
  EXPECT_EQ(witness_of(some, recorded).inputs, some.inputs);
}

// The share of `make test`; scripts/rounds does 1,000, over more programs.
TEST(Rounds, EveryReplayAgrees) {
  const char* share = std::getenv("CLEAVE_ROUNDS");
  uint64_t seeds = share != nullptr ? std::strtoull(share, nullptr, 10) : 3;
  uint64_t rounds = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    for (const char* program : {"lost_update", "everything", "pinned", "sockets", "signal_lock", "detached",
                                "crash", "deadlock", "lost_wakeup", "forks"}) {
      for (Policy policy : {Policy::Random, Policy::Pct}) {
        RunRequest first = request(program, policy, seed);
        RunOutcome recorded = must_run(first);
        RunOutcome replayed = must_run(again(first, recorded));
        ++rounds;
        ASSERT_EQ(replayed.sentence(), recorded.sentence())
            << program << " " << word_of(policy) << " seed " << seed << "\n"
            << replayed.text;
        ASSERT_EQ(replayed.schedule.fingerprints, recorded.schedule.fingerprints)
            << program << " seed " << seed;
      }
    }
  }
  RecordProperty("rounds", static_cast<int>(rounds));
}

}  // namespace
}  // namespace cleave::exec
