// Every access is a step: another thread may run before each, also in straight code over several locations.
#include <filesystem>
#include <fstream>

#include "control/running.h"

#include "trace/core/load.h"

namespace cleave::exec {
namespace {

constexpr const char* kPrograms = CLEAVE_SOURCE_DIR "/tests/control/programs/";

// Runs with the seeds from 1 to 100 that end with status 1; stops at `enough`.
unsigned torn(RunRequest some, unsigned enough) {
  unsigned count = 0;
  for (some.seed = 1; some.seed <= 100 && count < enough; ++some.seed) {
    RunOutcome outcome = must_run(some);
    EXPECT_EQ(outcome.end, RunEnd::Exited) << outcome.sentence();
    count += outcome.exit_status == 1;
  }
  return count;
}

TEST(Steps, APairOfFieldsIsTornUnderRandomAndPctAtEveryLevel) {
  Folder folder;
  for (const char* flags :
       {"-O0", "-O1", "-O2", "-O0 -DPAIR_VOLATILE=volatile", "-O2 -DPAIR_VOLATILE=volatile"}) {
    std::string built = folder.file("pair");
    CommandResult compiled =
        command(std::string(CLEAVE_BINARY_DIR) + "/bin/cleave-c++ -std=c++20 -g -pthread " + flags + " " +
                kPrograms + "pair.cpp -o " + built);
    ASSERT_EQ(compiled.status, 0) << compiled.output;
    for (Policy policy : {Policy::Random, Policy::Pct}) {
      RunRequest some = request("pair", policy);
      some.program = {built};
      some.pct_points = 30;
      EXPECT_GT(torn(some, 1), 0u) << flags << " " << word_of(policy);
    }
  }
}

TEST(Steps, ATornPairReplays) {
  RunRequest first = request("pair", Policy::Random);
  for (; first.seed <= 100; ++first.seed) {
    RunOutcome recorded = must_run(first);
    if (recorded.exit_status != 1) continue;
    RunOutcome replayed = must_run(again(first, recorded));
    EXPECT_EQ(replayed.sentence(), "exit status 1") << replayed.text;
    EXPECT_EQ(replayed.schedule.runs, recorded.schedule.runs);
    return;
  }
  ADD_FAILURE() << "never torn";
}

EventIndex find(const Trace& trace, const std::string& path, EventKind kind, const std::string& variable) {
  for (size_t i = 0; i < trace.size(); ++i) {
    const Event& event = trace.events()[i];
    if (event.kind == kind && trace.thread(event.thread).path == path &&
        trace.variable(event.variable()).name.find(variable) != std::string::npos)
      return id_of<EventIndex>(i);
  }
  ADD_FAILURE() << "no " << word_of(kind) << " of " << variable;
  return id_of<EventIndex>(0);
}

// Runs the program serially and then along a plan of these accesses: thread, kind, variable.
struct Access {
  const char* thread;
  EventKind kind;
  const char* variable;
};
RunOutcome follow(const std::string& program, const std::vector<Access>& accesses) {
  Folder folder;
  RunRequest serial = request("pair", Policy::Serial);
  serial.program = {program};
  serial.trace = folder.file("serial.cleave");
  EXPECT_EQ(must_run(serial).exit_status, 0);
  Result<Trace> loaded = load_trace(serial.trace);
  EXPECT_TRUE(loaded.ok()) << loaded.error().sentence();
  std::vector<EventIndex> events;
  for (const Access& access : accesses)
    events.push_back(find(loaded.value(), access.thread, access.kind, access.variable));
  Result<Plan> plan = plan_of(loaded.value(), events);
  EXPECT_TRUE(plan.ok()) << plan.error().sentence();
  RunRequest along = request("pair", Policy::Plan);
  along.program = {program};
  along.plan = plan.value();
  along.sites = serial.trace;
  RunOutcome outcome = must_run(along);
  EXPECT_TRUE(outcome.plan.complete()) << outcome.plan.why;
  RunRequest replay = again(along, outcome);
  replay.plan.reset();
  EXPECT_EQ(must_run(replay).exit_status, outcome.exit_status);
  return outcome;
}

TEST(Steps, APlanComesBetweenTwoAccessesOfStraightCode) {
  RunOutcome outcome = follow(program_path("pair"), {{"0.1", EventKind::Write, "low"},
                                                     {"0.2", EventKind::Read, "low"},
                                                     {"0.2", EventKind::Read, "high"},
                                                     {"0.1", EventKind::Write, "high"}});
  EXPECT_EQ(outcome.exit_status, 1);
}

// A fill has nothing to read first, and yet another thread may come right before it.
TEST(Steps, AFillIsAStep) {
  Folder folder;
  std::ofstream(folder.file("fill.cpp"))
      << "#include <cstring>\n#include <thread>\nchar all[200];\nvolatile int filled;\nint early;\n"
         "int main() {\n"
         "  std::thread writer([] { filled = 1; std::memset(all, 7, sizeof all); });\n"
         "  std::thread reader([] { if (filled == 1) early = all[100] == 0; });\n"
         "  writer.join();\n  reader.join();\n  return early;\n}\n";
  std::string built = folder.file("fill");
  CommandResult compiled =
      command(std::string(CLEAVE_BINARY_DIR) + "/bin/cleave-c++ -std=c++20 -g -O1 -pthread " +
              folder.file("fill.cpp") + " -o " + built);
  ASSERT_EQ(compiled.status, 0) << compiled.output;
  RunOutcome outcome = follow(built, {{"0.1", EventKind::Write, "filled"},
                                      {"0.2", EventKind::Read, "filled"},
                                      {"0.2", EventKind::Read, "all"},
                                      {"0.1", EventKind::Write, "all"}});
  EXPECT_EQ(outcome.exit_status, 1);
}

TEST(Steps, CheckFindsTheTornPair) {
  Folder folder;
  CommandResult found =
      command(cleave() +
              " check --units 'functions:set,functions:holds' --sets one --schedule random --runs 100 "
              "--stop -- " +
              program_path("pair"));
  EXPECT_EQ(found.status, 1) << found.output;
  EXPECT_NE(found.output.find("is split"), std::string::npos) << found.output;
}

// --- the end of main

std::string run_drains(const std::string& how, const std::string& options, int status) {
  Folder folder;
  std::string trace = folder.file("t.cleave");
  CommandResult recorded =
      command(cleave() + " record " + options + " -o " + trace + " -- " + program_path("drains") + " " + how);
  EXPECT_EQ(recorded.status, status) << recorded.output;
  CommandResult replayed = command(cleave() + " replay " + trace);
  EXPECT_EQ(replayed.status, 0) << how << " " << options << "\n" << replayed.output;
  return recorded.output;
}

TEST(Drain, ThreadsGoOnWhenMainReturnsOrCallsExit) {
  for (const char* schedule : {"--schedule serial", "--schedule random", "--schedule pct --pct-points 100"}) {
    EXPECT_NE(run_drains("end", schedule, 5).find("the thread has ended"), std::string::npos) << schedule;
    EXPECT_NE(run_drains("exit", schedule, 6).find("the thread has ended"), std::string::npos) << schedule;
  }
}

TEST(Drain, EndsWhenAllWaitOrHaveHadTheirSteps) {
  EXPECT_EQ(run_drains("wait", "--schedule serial", 5).find("the thread has ended"), std::string::npos);
  EXPECT_EQ(run_drains("forever", "--schedule serial", 5).find("the thread has ended"), std::string::npos);
  EXPECT_EQ(run_drains("forever", "--schedule random --seed 2", 5).find("the thread has ended"),
            std::string::npos);
}

TEST(Drain, IsNotForEveryEndAndCanBeTurnedOff) {
  EXPECT_EQ(run_drains("_exit", "--schedule serial", 7).find("the thread has ended"), std::string::npos);
  EXPECT_EQ(run_drains("end", "--schedule serial --no-drain", 5).find("the thread has ended"),
            std::string::npos);
  EXPECT_EQ(run_drains("exit", "--schedule serial --no-drain", 6).find("the thread has ended"),
            std::string::npos);
}

// --- locks of the program's own

TEST(OwnLocks, NobodyStarvesTheirHolder) {
  constexpr uint64_t kMost = 500000;  // a loop that waits unseen takes millions
  for (const char* kind : {"test_and_set", "test_first", "compare_exchange", "ticket", "counting"}) {
    for (Policy policy : {Policy::Serial, Policy::Random, Policy::Pct}) {
      for (uint64_t seed = 1; seed <= (policy == Policy::Serial ? 1 : 6); ++seed) {
        RunRequest some = request("own_locks", policy, seed);
        some.program.push_back(kind);
        some.pct_points = 500;
        RunOutcome outcome = must_run(some);
        EXPECT_EQ(outcome.sentence(), "exit status 0")
            << kind << " " << word_of(policy) << " " << seed << outcome.text;
        EXPECT_LT(outcome.schedule.points(), kMost) << kind << " " << word_of(policy) << " " << seed;
      }
    }
  }
}

TEST(OwnLocks, InAssemblyAreLeftByThemselves) {
  unsigned taken = 0;
  for (uint64_t seed = 1; seed <= 200 && taken == 0; ++seed) {
    RunRequest some = request("own_locks", Policy::Random, seed);
    some.program.push_back("assembly");
    some.time_limit = std::chrono::seconds(120);
    RunOutcome outcome = must_run(some);
    ASSERT_EQ(outcome.sentence(), "exit status 0") << seed << outcome.text;
    for (const auto& run : outcome.schedule.runs) taken += run.how == Handover::Taken;
    if (taken != 0) EXPECT_EQ(must_run(again(some, outcome)).sentence(), "exit status 0");
  }
  EXPECT_GT(taken, 0u) << "no thread was preempted while it had the lock";
}

// Sections of the program's own locks are in the trace, under the lock's name, and the trace holds with them.
TEST(OwnLocks, AreRecognizedInTheTrace) {
  for (const char* kind : {"test_and_set", "test_first", "compare_exchange", "ticket", "counting"}) {
    Folder folder;
    RunRequest some = request("own_locks", Policy::Random, 2);
    some.program.push_back(kind);
    some.trace = folder.file("t.cleave");
    EXPECT_EQ(must_run(some).exit_status, 0);
    Result<Trace> loaded = load_trace(some.trace);
    ASSERT_TRUE(loaded.ok()) << loaded.error().sentence();
    const Trace& trace = loaded.value();
    size_t acquired = 0, released = 0;
    for (size_t i = 0; i < trace.size(); ++i) {
      const Event& event = trace.events()[i];
      if (event.kind != EventKind::Acquire && event.kind != EventKind::Release) continue;
      const std::string& name = trace.sync(event.sync()).name;
      if (name.find("lock") == std::string::npos) continue;
      ++(event.kind == EventKind::Acquire ? acquired : released);
    }
    EXPECT_GE(acquired, 20u) << kind << ": of forty, all but those before a second thread came";
    EXPECT_EQ(acquired, released) << kind;
    CommandResult validated = command(cleave() + " trace validate " + some.trace);
    EXPECT_EQ(validated.status, 0) << validated.output;
  }
}

// Plans go along their atomic operations: the lock itself is no place of the program.
TEST(OwnLocks, APlanSplitsAUnitBetweenTwoSections) {
  Folder folder;
  std::string trace = folder.file("t.cleave");
  ASSERT_EQ(
      command(cleave() + " record --schedule serial -o " + trace + " -- " + program_path("own_lock_split"))
          .status,
      0);
  CommandResult predicted = command("cd " + folder.file("") + " && " + cleave() + " predict " + trace);
  EXPECT_EQ(predicted.status, 1) << predicted.output;
  EXPECT_NE(predicted.output.find("confirmed  CLV-"), std::string::npos) << predicted.output;
  EXPECT_NE(predicted.output.find("lost update; cleave explain RWW"), std::string::npos) << predicted.output;
  EXPECT_EQ(predicted.output.find("could not be run"), std::string::npos) << predicted.output;
}

// --- libraries that come and go

TEST(Libraries, AreUnloadedUnderControl) {
  Folder folder;
  std::ofstream(folder.file("plugin.c"))
      << "int value;\nint bump(int n) { value += n; value *= 2; return value; }\n";
  std::ofstream(folder.file("host.cpp"))
      << "#include <dlfcn.h>\n#include <thread>\nint shared;\n"
         "int main(int, char** words) {\n"
         "  std::thread other([] { for (int i = 0; i < 50; ++i) *(volatile int*)&shared = shared + 1; });\n"
         "  for (int i = 0; i < 20; ++i) {\n"
         "    void* library = dlopen(words[1], RTLD_NOW);\n"
         "    if (library == nullptr) return 9;\n"
         "    auto bump = reinterpret_cast<int (*)(int)>(dlsym(library, \"bump\"));\n"
         "    shared = shared + bump(i);\n"
         "    dlclose(library);\n"
         "    shared = shared + 1;\n"
         "  }\n"
         "  other.join();\n  return 0;\n}\n";
  std::string bin = std::string(CLEAVE_BINARY_DIR) + "/bin/";
  std::string plugin = folder.file("plugin.so"), host = folder.file("host");
  CommandResult built =
      command(bin + "cleave-cc -g -O1 -shared -fPIC " + folder.file("plugin.c") + " -o " + plugin + " && " +
              bin + "cleave-c++ -std=c++20 -g -O1 -pthread " + folder.file("host.cpp") + " -o " + host);
  ASSERT_EQ(built.status, 0) << built.output;
  for (Policy policy : {Policy::Serial, Policy::Random, Policy::Pct}) {
    RunRequest some = request("pair", policy, 3);
    some.program = {host, plugin};
    RunOutcome outcome = must_run(some);
    EXPECT_EQ(outcome.sentence(), "exit status 0") << word_of(policy) << outcome.text;
    EXPECT_EQ(must_run(again(some, outcome)).sentence(), "exit status 0") << word_of(policy);
  }
}

}  // namespace
}  // namespace cleave::exec
