// Reads-from constraints: what a file of them asks for happens, in one run, whatever the seed.
#include <fstream>

#include "control/running.h"
#include "schedule/constraint.h"

namespace cleave::exec {
namespace {

class Constrained : public ::testing::Test {
 protected:
  RunOutcome run(const std::string& text, uint64_t seed) {
    RunRequest serial = request("lost_update", Policy::Serial);
    serial.trace = folder_.file("serial.cleave");
    must_run(serial);
    RunRequest along = request("lost_update", Policy::Rf, seed);
    Result<std::vector<Constraint>> parsed = parse_constraints(text, "constraints");
    EXPECT_TRUE(parsed) << parsed.error().sentence();
    along.constraints = parsed.value();
    along.sites = serial.trace;
    return must_run(along);
  }
  Folder folder_;
};

TEST_F(Constrained, ReadsBeforeAnyWriteLoseAnUpdateWithEverySeed) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    RunOutcome lost = run("read lost_update.cpp:6 -> write lost_update.cpp:7\n", seed);
    EXPECT_EQ(lost.exit_status, 1) << "seed " << seed;
    EXPECT_EQ(lost.constraints_met, 1u);
  }
}

TEST_F(Constrained, AReadThatSeesTheOtherThreadsWriteLosesNothing) {
  for (uint64_t seed = 1; seed <= 10; ++seed)
    EXPECT_EQ(
        run("write lost_update.cpp:7 -> read lost_update.cpp:6  # the second thread's\n", seed).exit_status,
        0)
        << "seed " << seed;
}

TEST_F(Constrained, AConstrainedRunIsReplayed) {
  RunRequest serial = request("lost_update", Policy::Serial);
  serial.trace = folder_.file("serial.cleave");
  must_run(serial);
  RunRequest along = request("lost_update", Policy::Rf, 4);
  along.constraints = parse_constraints("read lost_update.cpp:6 -> write lost_update.cpp:7", "").value();
  along.sites = serial.trace;
  RunOutcome lost = must_run(along);
  RunOutcome replayed = must_run(again(along, lost));
  EXPECT_EQ(replayed.sentence(), lost.sentence());
  EXPECT_EQ(replayed.schedule.runs, lost.schedule.runs);
}

TEST(ConstraintText, IsWrittenAsItIsRead) {
  for (const char* line : {"write bank.cpp:16 -> read bank.cpp:12", "not write a/b.cpp:16:3 -> read b.cpp:1",
                           "start -> read bank.cpp:12", "update 3 bank.cpp:16 -> write bank.cpp:12"}) {
    Result<std::vector<Constraint>> parsed = parse_constraints(line, "file");
    ASSERT_TRUE(parsed) << line;
    ASSERT_EQ(parsed.value().size(), 1u);
    EXPECT_EQ(to_text(parsed.value()[0]), line);
  }
}

TEST(ConstraintText, NamesTheLineThatIsWrong) {
  for (const char* line :
       {"write bank.cpp:16", "-> read bank.cpp:12", "write -> read", "not start -> read a.c:1",
        "write bank.cpp -> read bank.cpp:12", "read a.c:0 -> write a.c:1"}) {
    Result<std::vector<Constraint>> parsed = parse_constraints(std::string("# first\n") + line, "file");
    ASSERT_FALSE(parsed) << line;
    EXPECT_NE(parsed.error().sentence().find("line 2"), std::string::npos);
  }
}

TEST(Reverse, RunsTheYoungestThreadFirst) {
  RunOutcome outcome = must_run(request("creation_order", Policy::Reverse));
  std::vector<uint32_t> order;  // in which threads other than main ended
  for (const auto& run : outcome.schedule.runs)
    if (run.thread != 0 && (order.empty() || order.back() != run.thread)) order.push_back(run.thread);
  ASSERT_GE(order.size(), 2u);
  EXPECT_GT(order.front(), order.back());
}

TEST(First, RunsTheAskedThreadAsSoonAsItIsThere) {
  RunOutcome outcome = must_run(request("lost_update", Policy::First, 1));
  ASSERT_GE(outcome.schedule.runs.size(), 2u);
  // The second thread does not exist yet when the first runs to its end.
  EXPECT_EQ(outcome.schedule.runs[1].thread, 1u);
  for (const auto& run : outcome.schedule.runs)
    if (run.thread == 1) EXPECT_EQ(run.how, Handover::GaveAway);
}

TEST(Schedules, BadConstraintsAreOneSentence) {
  Folder folder;
  std::ofstream(folder.file("c.txt")) << "write nowhere.cpp:1 -> read nowhere.cpp:2\n";
  const std::string program = program_path("lost_update");
  CommandResult absent = command(cleave() + " record --schedule rf --constraints " + folder.file("c.txt") +
                                 " -o " + folder.file("t") + " -- " + program);
  EXPECT_EQ(absent.status, 2);
  EXPECT_NE(absent.output.find("no access like"), std::string::npos) << absent.output;
  CommandResult other = command(cleave() + " record --schedule pos --constraints " + folder.file("c.txt") +
                                " -o " + folder.file("t") + " -- " + program);
  EXPECT_EQ(other.status, 2);
}

TEST(Schedules, RfLearnsFromItsOwnRuns) {
  Folder folder;
  CommandResult runs =
      command("cd " + folder.file("") + " && " + cleave() +
              " record --schedule rf --runs 20 --first-failure -- " + program_path("lost_update"));
  EXPECT_EQ(runs.status, 1) << runs.output;
}

}  // namespace
}  // namespace cleave::exec
