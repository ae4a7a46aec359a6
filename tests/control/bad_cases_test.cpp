// Schedules that cannot be followed, and what is said then.
#include <fstream>

#include "control/running.h"

namespace cleave::exec {
namespace {

TEST(Schedule, OfAnotherProgramIsNotFollowed) {
  RunRequest first = request("lost_update", Policy::Serial);
  RunRequest second = again(first, must_run(first));
  second.program = {program_path("deadlock")};
  Result<RunOutcome> outcome = run(second);
  ASSERT_FALSE(outcome.ok());
  EXPECT_NE(outcome.error().sentence().find("another program or another build"), std::string::npos);
}

TEST(Schedule, OfAProgramThatEndsEarlyIsSaid) {
  RunRequest first = request("ends_early", Policy::Serial);
  RunRequest second = again(first, must_run(first));
  second.environment["ROUNDS"] = "4";
  RunOutcome outcome = must_run(second);
  EXPECT_EQ(outcome.end, RunEnd::Diverged);
  EXPECT_NE(outcome.text.find("recorded:"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("now:"), std::string::npos) << outcome.text;
}

TEST(Schedule, OfAProgramThatGoesOnIsSaid) {
  RunRequest first = request("ends_early", Policy::Serial);
  RunRequest second = again(first, must_run(first));
  second.environment["ROUNDS"] = "12";
  RunOutcome outcome = must_run(second);
  EXPECT_EQ(outcome.end, RunEnd::Diverged);
  EXPECT_NE(outcome.text.find("now:"), std::string::npos) << outcome.text;
}

TEST(Schedule, OfThreadsInAnotherOrderIsSaid) {
  RunRequest first = request("creation_order", Policy::Serial);
  RunRequest second = again(first, must_run(first));
  second.program.push_back("turned");
  RunOutcome outcome = must_run(second);
  EXPECT_EQ(outcome.end, RunEnd::Diverged);
  EXPECT_NE(outcome.text.find("points that agree"), std::string::npos) << outcome.text;
}

TEST(Schedule, OfOtherInputShowsBothSides) {
  Folder folder;
  RunRequest first = request("unpinned", Policy::Serial);
  first.program.push_back(folder.file("input"));
  std::ofstream(folder.file("input")) << "10\n";
  RunRequest second = again(first, must_run(first));
  EXPECT_EQ(must_run(second).sentence(), "exit status 0");
  std::ofstream(folder.file("input")) << "11\n";
  RunOutcome outcome = must_run(second);
  EXPECT_EQ(outcome.end, RunEnd::Diverged);
  EXPECT_NE(outcome.text.find("recorded:"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("unpinned.cpp"), std::string::npos) << outcome.text;
}

TEST(Program, ThatWasNotBuiltWithCleaveIsAnError) {
  RunRequest some = request("lost_update", Policy::Serial);
  some.program = {"/bin/true"};
  Result<RunOutcome> outcome = run(some);
  ASSERT_FALSE(outcome.ok());
  EXPECT_NE(outcome.error().sentence().find("cleave-c++"), std::string::npos);
}

TEST(TimeLimit, StopsARunAndItsReplay) {
  RunRequest first = request("endless", Policy::Serial);
  first.time_limit = std::chrono::milliseconds(600);
  RunOutcome recorded = must_run(first);
  EXPECT_EQ(recorded.end, RunEnd::TimeLimit);
  RunRequest second = again(first, recorded);
  second.time_limit = std::chrono::seconds(120);
  RunOutcome replayed = must_run(second);
  EXPECT_EQ(replayed.end, RunEnd::TimeLimit) << replayed.text;
}

TEST(CommandLine, SaysHowToReplayAFailingRun) {
  Folder folder;
  std::string trace = folder.file("t.cleave");
  unsigned failed = 0;
  for (int seed = 1; seed <= 100 && failed == 0; ++seed) {
    CommandResult result = command(cleave() + " record --schedule random --seed " + std::to_string(seed) +
                                   " -o " + trace + " -- " + program_path("lost_update"));
    if (result.status == 0) continue;
    ++failed;
    EXPECT_EQ(result.status, 1) << result.output;
    EXPECT_NE(result.output.find("cleave replay " + trace), std::string::npos) << result.output;
    CommandResult replayed = command(cleave() + " replay " + trace);
    EXPECT_EQ(replayed.status, 0) << replayed.output;
    EXPECT_NE(replayed.output.find("exit status 1"), std::string::npos) << replayed.output;
  }
  EXPECT_EQ(failed, 1u);
}

TEST(CommandLine, ShowsBothSidesOfADifferenceOfWhichOnlyAFingerprintWasKept) {
  Folder folder;
  std::string trace = folder.file("t.cleave");
  ASSERT_EQ(
      command(cleave() + " record --schedule serial -o " + trace + " -- " + program_path("long_stretch"))
          .status,
      0);
  // Run as it was run, it finds the environment it had; given anew, it finds ours.
  EXPECT_EQ(command("CHANGED=yes " + cleave() + " replay " + trace).status, 0);
  CommandResult result =
      command("CHANGED=yes " + cleave() + " replay " + trace + " -- " + program_path("long_stretch"));
  EXPECT_EQ(result.status, 3) << result.output;
  size_t at = result.output.find("the first access that differs:");
  ASSERT_NE(at, std::string::npos) << result.output;
  EXPECT_NE(result.output.find("recorded: T1: write", at), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("now:      T1: write", at), std::string::npos) << result.output;
  EXPECT_EQ(command(cleave() + " replay " + trace).status, 0);
}

TEST(CommandLine, RunsManyTimesWithALineEach) {
  Folder folder;
  CommandResult result =
      command("cd " + folder.file("") + " && " + cleave() +
              " record --schedule random --runs 5 -o t.cleave -- " + program_path("deadlock"));
  for (int number = 1; number <= 5; ++number)
    EXPECT_NE(result.output.find("run " + std::to_string(number) + " seed " + std::to_string(number) + ":"),
              std::string::npos)
        << result.output;
  EXPECT_NE(result.output.find("new interleaving"), std::string::npos) << result.output;
}

TEST(CommandLine, RefusesWhatIsNoWitness) {
  Folder folder;
  std::ofstream(folder.file("w.json")) << "{\"cleave_witness\": 1, \"program\": [";
  EXPECT_EQ(command(cleave() + " replay " + folder.file("w.json")).status, 2);
  EXPECT_EQ(command(cleave() + " replay " + folder.file("absent")).status, 2);
  RunRequest free = request("lost_update", Policy::Free);
  free.trace = folder.file("free.cleave");
  must_run(free);
  CommandResult result = command(cleave() + " replay " + free.trace);
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.output.find("not recorded under control"), std::string::npos) << result.output;
}

TEST(Gdb, StopsAtEveryMilestone) {
  Folder folder;
  RunRequest first = request("lost_update", Policy::Random);
  RunOutcome recorded = find_end(first, RunEnd::Exited);
  Witness witness = witness_of(first, recorded);
  std::string file = std::string(CLEAVE_SOURCE_DIR) + "/tests/control/programs/lost_update.cpp";
  witness.milestones.milestones = {{"0.1", EventKind::Read, file, 6, 0, "", 1, std::nullopt, "first"},
                                   {"0.1", EventKind::Write, file, 7, 0, "", 1, std::nullopt, "second"}};
  ASSERT_TRUE(write_witness(witness, folder.file("w.json")).ok());
  CommandResult result = command("printf 'run\\ncontinue\\ncontinue\\nquit\\n' | " + cleave() +
                                 " replay --gdb " + folder.file("w.json"));
  EXPECT_NE(result.output.find("milestone 1 of 2: first: thread 0.1 comes to read"), std::string::npos)
      << result.output;
  EXPECT_NE(result.output.find("milestone 2 of 2: second: thread 0.1 comes to write"), std::string::npos)
      << result.output;
  EXPECT_NE(result.output.find("increment"), std::string::npos) << result.output;
}

}  // namespace
}  // namespace cleave::exec
