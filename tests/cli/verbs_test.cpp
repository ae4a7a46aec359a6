// The verbs from outside, on a program built for it: exit status, one clear sentence for bad input, and a
// text trace that gives the answers of the binary one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/command.h"

namespace {

class Verbs : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = testing::TempDir() + "cleave_verbs." + std::to_string(getpid()) + "/";
    std::filesystem::create_directories(folder_);
    std::string flags = " -O1 -g -std=c++20 -pthread " CLEAVE_SOURCE_DIR "/examples/bank.cpp -o " + folder_;
    ASSERT_EQ(run(kTools + "cleave-c++" + flags + "bank").output, "");
    ASSERT_EQ(run("clang++-19 -I" CLEAVE_SOURCE_DIR "/include" + flags + "plain").output, "");
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder_); }

  static Ran cleave(const std::string& arguments) {
    return run("cd " + folder_ + " && NO_COLOR=1 " + kTools + "cleave " + arguments);
  }
  static void file(const std::string& name, const std::string& contents) {
    std::ofstream(folder_ + name, std::ios::binary) << contents;
  }
  static std::string contents(const std::string& name) {
    std::ifstream in(folder_ + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static nlohmann::json findings(const std::string& verb, const std::string& trace) {
    cleave(verb + " " + trace + " --quiet --json " + trace + ".json");
    return nlohmann::json::parse(contents(trace + ".json"), nullptr, false);
  }
  // Status 2, and exactly one line that begins with "cleave: " and holds `part`.
  static void bad(const std::string& arguments, const std::string& part) {
    Ran ran = cleave(arguments);
    EXPECT_EQ(ran.status, 2) << arguments << "\n" << ran.output;
    EXPECT_EQ(ran.output.find("cleave: "), 0u) << arguments << "\n" << ran.output;
    EXPECT_EQ(ran.output.find('\n'), ran.output.size() - 1) << arguments << "\n" << ran.output;
    EXPECT_NE(ran.output.find(part), std::string::npos) << arguments << "\n" << ran.output;
  }
  static inline std::string folder_;
};

TEST_F(Verbs, WrongUsageIsOneSentence) {
  bad("", "a command is missing");
  bad("frobnicate", "there is no command `frobnicate`");
  bad("record", "no program was given");
  bad("record --", "no program was given");
  bad("record --schedule fast -- ./bank", "--schedule");
  bad("record --runs 0 -- ./bank", "--runs");
  bad("record --seed -1 -- ./bank", "--seed: -1 is negative");
  bad("record --seed many -- ./bank", "--seed");
  bad("record --schedule pct --pct-depth 0 -- ./bank", "--pct-depth");
  bad("record --frob -- ./bank", "--frob");
  bad("check", "");
  bad("check --sets two x.cleave", "--sets");
  bad("check --units frob x.cleave", "'frob' is no source of units");
  bad("check --units causal --without-rule frob x.cleave", "there is no rule 'frob'");
  bad("check --without-rule revalidated x.cleave", "add --units causal");
  bad("predict", "TRACE");
  bad("predict x.cleave --stages guess", "there is no stage `guess`");
  bad("predict x.cleave --budget -1", "--budget: -1 is negative");
  bad("predict x.cleave --jobs 100000", "--jobs");
  bad("predict x.cleave --fail-on maybe", "--fail-on");
  bad("replay", "WITNESS");
  bad("report", "");
}

TEST_F(Verbs, ProgramsThatCannotBeRecorded) {
  bad("record -- ./none", "./none: cannot be executed: No such file or directory");
  bad("record -- no-such-program-anywhere", "there is no such program in PATH");
  bad("record -- ./plain", "was not built with Cleave; build it with cleave-cc or cleave-c++");
  bad("check -- ./plain", "was not built with Cleave");
  bad("record -o no/such/place.cleave -- ./bank", "the trace cannot be written: No such file or directory");
  file("data", "not a program\n");
  bad("record -- ./data", "./data");
}

TEST_F(Verbs, FilesThatAreSomethingElse) {
  file("words.json", "{\"a\": 1}\n");
  file("broken.json", "{\"a\": ");
  file("noise.cleave", std::string("\x7f\0\x01\x02 nothing \xff\xfe", 15));
  for (std::string verb : {"check", "predict"}) {
    bad(verb + " none.cleave", "none.cleave: cannot be opened: No such file or directory");
    bad(verb + " noise.cleave", "is not a trace");
    bad(verb + " .", "is a directory");
  }
  bad("replay none.json", "none.json");
  bad("replay words.json", "not a witness");
  bad("replay broken.json", "broken.json");
  bad("report none.json", "none.json: cannot be read");
  bad("report words.json", "not a findings file");
  bad("report broken.json", "broken.json");
  bad("predict x.cleave --config none.toml", "none.toml");
  file("wrong.toml", "[units\natomic = 3\n");
  bad("predict x.cleave --config wrong.toml", "wrong.toml");
  bad("check ./bank", "is a program, not a trace");
}

TEST_F(Verbs, RecordReturnsTheProgramsOwnStatusAndLosesNothing) {
  EXPECT_EQ(cleave("record -o ok.cleave -- ./bank").status, 0);
  EXPECT_EQ(cleave("trace validate ok.cleave").status, 0);
  // A disk that is full: said, and the program goes on as if nothing had happened.
  Ran full = cleave("record -o /dev/full -- ./bank");
  EXPECT_NE(full.output.find("/dev/full: No space left on device"), std::string::npos) << full.output;
  EXPECT_NE(full.output.find(" left of 100"), std::string::npos) << full.output;
}

TEST_F(Verbs, ATruncatedTraceGivesWhatIsThereAndSaysSo) {
  ASSERT_EQ(cleave("record --schedule serial -o whole.cleave -- ./bank").status, 0);
  std::string whole = contents("whole.cleave");
  for (size_t keep : {size_t{40}, whole.size() / 3, whole.size() / 2, whole.size() - 1}) {
    file("part.cleave", whole.substr(0, keep));
    for (std::string verb : {"check", "predict --no-replay", "trace validate", "trace stats", "trace dump"}) {
      Ran ran = cleave(verb + " part.cleave");
      EXPECT_TRUE(ran.status == 3 || (ran.status == 1 && verb.find("trace") == std::string::npos))
          << verb << " " << keep << " " << ran.status << "\n"
          << ran.output;
      EXPECT_NE(ran.output.find("part.cleave: the trace ends early"), std::string::npos) << ran.output;
      EXPECT_NE(ran.output.find("the file ends"), std::string::npos) << verb << " " << keep << "\n"
                                                                     << ran.output;
    }
  }
}

TEST_F(Verbs, TextAndImportedTracesGiveTheAnswersOfTheRecordedOne) {
  ASSERT_EQ(cleave("record --schedule random --seed 4 -o one.cleave -- ./bank").status, 0);
  ASSERT_EQ(cleave("trace export one.cleave -o one.txt").status, 0);
  ASSERT_EQ(cleave("trace import one.txt -o two.cleave").status, 0);
  ASSERT_EQ(cleave("trace export two.cleave -o two.txt").status, 0);
  EXPECT_EQ(contents("one.txt"), contents("two.txt"));
  for (std::string verb : {"check", "check --units methods,locks", "check --sets one",
                           "predict --stages patterns,order,locks,filter,exact"}) {
    nlohmann::json recorded = findings(verb, "one.cleave");
    ASSERT_TRUE(recorded.is_object() && recorded.contains("findings")) << verb;
    for (std::string other : {"one.txt", "two.cleave"}) {
      nlohmann::json again = findings(verb, other);
      EXPECT_EQ(recorded["findings"], again["findings"]) << verb << " " << other;
      ASSERT_EQ(recorded["stages"].size(), again["stages"].size());
      for (size_t s = 0; s < recorded["stages"].size(); ++s) {
        nlohmann::json a = recorded["stages"][s], b = again["stages"][s];
        a.erase("seconds"), b.erase("seconds");
        EXPECT_EQ(a, b) << verb << " " << other;
      }
    }
  }
}

TEST_F(Verbs, OutputThatCannotBeWritten) {
  ASSERT_EQ(cleave("record --schedule serial -o out.cleave -- ./bank").status, 0);
  ASSERT_EQ(cleave("trace export out.cleave -o out.txt").status, 0);
  cleave("predict out.cleave --no-replay --quiet --json out.json");
  std::filesystem::create_directories(folder_ + "folder");
  for (std::string verb : {"trace stats out.cleave", "trace dump out.cleave", "trace validate out.cleave",
                           "trace export out.cleave", "check out.cleave", "predict --no-replay out.cleave",
                           "report out.json", "--help", "check out.cleave --json -"}) {
    Ran ran = cleave(verb + " > /dev/full");
    EXPECT_EQ(ran.status, 3) << verb << "\n" << ran.output;
    EXPECT_NE(ran.output.find("cannot be written"), std::string::npos) << verb << "\n" << ran.output;
  }
  for (std::string place : {"no/such/place", "folder", "/dev/full"}) {
    for (std::string verb :
         {"check out.cleave --quiet --json ", "predict --no-replay out.cleave --quiet --json ",
          "report out.json --html ", "report out.json --sarif ", "trace export out.cleave -o ",
          "trace import out.txt -o "}) {
      Ran ran = cleave(verb + place);
      EXPECT_TRUE(ran.status == 2 || ran.status == 3) << verb << place << "\n" << ran.output;
      EXPECT_NE(ran.output.find(place + ": cannot be written"), std::string::npos) << verb << place << "\n"
                                                                                   << ran.output;
    }
  }
  bad("record -o folder -- ./bank", "is a directory");
  for (std::string verb :
       {"trace export out.cleave -o grown", "trace import out.txt -o grown"}) {  // half a KiB at most
    Ran ran = run("cd " + folder_ + " && ulimit -f 1 && NO_COLOR=1 " + kTools + "cleave " + verb);
    EXPECT_EQ(ran.status, 3) << verb << "\n" << ran.output;
    EXPECT_EQ(ran.output, "cleave: grown: cannot be written\n") << verb;
  }
}

TEST_F(Verbs, FoldersWhereFilesAreTaken) {
  ASSERT_EQ(cleave("record --schedule serial -o f.cleave -- ./bank").status, 0);
  std::filesystem::create_directories(folder_ + "folder");
  for (std::string line :
       {"check folder", "predict folder", "replay folder", "report folder", "trace stats folder",
        "trace dump folder", "trace validate folder", "trace export folder", "trace import folder",
        "check f.cleave --config folder", "check f.cleave --suppress folder",
        "check f.cleave --baseline folder", "predict f.cleave --config folder"}) {
    bad(line, "folder: is a directory, not a file");
  }
  bad("record -- ./folder", "folder");
  bad("check -- ./folder", "folder");
}

TEST_F(Verbs, NumbersOutOfRange) {
  ASSERT_EQ(cleave("record --schedule serial -o n.cleave -- ./bank").status, 0);
  for (std::string option :
       {"trace dump n.cleave --from", "trace dump n.cleave --to", "trace dump n.cleave --around",
        "trace dump n.cleave --context", "record --schedule random --seed", "check n.cleave --jobs"}) {
    std::string rest = option.starts_with("record") ? " -- ./bank" : "";
    bad(option + " -1" + rest, "-1");
    bad(option + " 99999999999999999999" + rest, "99999999999999999999");
    bad(option + " some" + rest, "some");
  }
}

// Bytes changed, left out, put in, cut off: an answer or a sentence, never a crash.
TEST_F(Verbs, DamagedTraces) {
  ASSERT_EQ(cleave("record --schedule serial -o d.cleave -- ./bank").status, 0);
  ASSERT_EQ(cleave("trace export d.cleave -o d.txt").status, 0);
  uint64_t state = 11;
  auto next = [&](size_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state >> 33) % below;
  };
  for (int turn = 0; turn < 16; ++turn) {
    std::string bytes = contents(turn % 2 ? "d.txt" : "d.cleave");
    size_t at = next(bytes.size());
    switch (turn / 2 % 4) {
      case 0:
        bytes[at] = static_cast<char>(next(256));
        break;
      case 1:
        bytes.erase(at, 1 + next(40));
        break;
      case 2:
        bytes.insert(at, std::string(1 + next(40), static_cast<char>(next(256))));
        break;
      default:
        bytes.resize(at);
        break;
    }
    file("damaged", bytes);
    for (std::string verb :
         {"trace stats", "trace dump", "trace validate", "trace export", "trace import -o again", "check",
          "predict --no-replay --stages patterns,order,locks", "replay"}) {
      Ran ran = cleave(verb + " damaged");
      EXPECT_LE(ran.status, 3) << verb << " " << turn << "\n" << ran.output;
      if (ran.status == 2)
        EXPECT_EQ(ran.output.find("cleave: "), 0u) << verb << " " << turn << "\n" << ran.output;
    }
  }
}

TEST_F(Verbs, WhatIsMadeAgainAtItsPlaceIsAnotherObject) {
  file("again.c",
       "#include <pthread.h>\n#include <semaphore.h>\n"
       "static void once(unsigned n) { sem_t s; pthread_barrier_t b; sem_init(&s, 0, n); for (unsigned i = "
       "0; i < n; ++i) sem_wait(&s);\n"
       "  sem_destroy(&s); pthread_barrier_init(&b, 0, 1); pthread_barrier_wait(&b); "
       "pthread_barrier_destroy(&b); }\n"
       "int main(void) { for (unsigned n = 0; n < 4; ++n) once(n); return 0; }\n");
  ASSERT_EQ(run("cd " + folder_ + " && " + kTools + "cleave-cc again.c -o again -pthread").output, "");
  ASSERT_EQ(cleave("record -o again.cleave -- ./again").status, 0);
  Ran ran = cleave("trace validate again.cleave");
  EXPECT_EQ(ran.status, 0) << ran.output;
}

TEST_F(Verbs, AProgramThatIsKilledLeavesATraceThatEveryVerbTakes) {
  file("killed.c",
       "#include <signal.h>\n#include <pthread.h>\nint x; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n"
       "int main(void) { for (int i = 0; i < 100000; ++i) { pthread_mutex_lock(&m); ++x; "
       "pthread_mutex_unlock(&m); }\n"
       "  raise(SIGKILL); return 0; }\n");
  ASSERT_EQ(run("cd " + folder_ + " && " + kTools + "cleave-cc killed.c -o killed -pthread").output, "");
  Ran killed = cleave("record -o killed.cleave -- ./killed");
  EXPECT_EQ(killed.status, 128 + 9) << killed.output;
  EXPECT_NE(killed.output.find("signal 9 (Killed)"), std::string::npos) << killed.output;
  for (std::string verb : {"trace stats", "trace validate", "trace dump --to 9", "check",
                           "predict --no-replay --stages patterns,order,locks"}) {
    Ran ran = cleave(verb + " killed.cleave");
    EXPECT_EQ(ran.status, 3) << verb << "\n" << ran.output;
    EXPECT_NE(ran.output.find("no end"), std::string::npos) << verb << "\n" << ran.output;
  }
  EXPECT_EQ(cleave("trace export killed.cleave -o killed.txt").status, 3);
  EXPECT_NE(contents("killed.txt").find("has\\_no\\_end"), std::string::npos);
}

// With a slip of the pen nothing would be found, and nobody would know why.
TEST_F(Verbs, PatternsThatFitNoFunctionAreSaid) {
  file("slip.toml", "[units]\natomic = [\"no_such_function\"]\n");
  ASSERT_EQ(cleave("record --quiet -o slip.cleave -- ./bank").status, 0);
  for (std::string line :
       {"check --config slip.toml slip.cleave", "predict --config slip.toml --no-replay slip.cleave",
        "check --config slip.toml -- ./bank"}) {
    std::string text = cleave(line).output;
    for (size_t at; (at = text.find("\n  ")) != std::string::npos;)
      text.replace(at, 3, " ");  // long facts go over several lines
    EXPECT_NE(text.find("no function that ran and touches shared memory is called 'no_such_function' (atomic "
                        "in cleave.toml)"),
              std::string::npos)
        << line << "\n"
        << text;
  }
}

TEST_F(Verbs, PatternsThatFitNoVariableAreSaid) {
  file("slip.toml",
       "[units]\nunitfor = [\"withdraw(NoSuchSet)\"]\n[sets]\n\"pair\" = [\"no_such_global\", \"*\"]\n"
       "[fields]\nowned = [\"NoSuch::field\"]\n");
  ASSERT_EQ(cleave("record --quiet -o slip.cleave -- ./bank").status, 0);
  for (std::string line :
       {"check --config slip.toml slip.cleave", "predict --config slip.toml --no-replay slip.cleave",
        "check --config slip.toml --runs 2 -- ./bank"}) {
    std::string text = cleave(line).output;
    for (size_t at; (at = text.find("\n  ")) != std::string::npos;) text.replace(at, 3, " ");
    for (std::string sentence :
         {"no variable that was accessed is called 'no_such_global' (\"pair\" in cleave.toml)",
          "no field that was accessed is called 'NoSuch::field' (owned in cleave.toml)",
          "nothing that was accessed is in a set called 'NoSuchSet' (unitfor in cleave.toml)"})
      EXPECT_NE(text.find(sentence), std::string::npos) << line << "\n" << text;
    EXPECT_EQ(text.find("called '*'"), std::string::npos) << line << "\n" << text;
  }
}

TEST_F(Verbs, WhatIsForProgramsIsNotForTraces) {
  ASSERT_EQ(cleave("record --quiet -o of_trace.cleave -- ./bank").status, 0);
  for (std::string option :
       {"--schedule random", "--seed 3", "--runs 2", "--stop", "--gdb", "--lag 5", "-o x"})
    bad("check of_trace.cleave " + option,
        option.starts_with("-o") ? "--output" : option.substr(0, option.find(' ')).c_str());
}

TEST_F(Verbs, HelpIsCompleteAndEndsWithAnExample) {
  for (std::string verb : {"", "record ", "check ", "predict ", "replay ", "report ", "trace ", "doctor "}) {
    Ran ran = cleave(verb + "--help");
    EXPECT_EQ(ran.status, 0) << verb;
    EXPECT_NE(ran.output.find("Example: "), std::string::npos) << verb << ran.output;
  }
}

TEST_F(Verbs, PredictAsksAboutFunctionsOverSeveralUnits) {
  ASSERT_EQ(cleave("record --schedule serial -o hint.cleave -- ./bank").status, 0);
  Ran ran = cleave("predict hint.cleave --units locks --no-replay");
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_NE(ran.output.find("hint: `withdraw` touches Account::balance_ in 2 units"), std::string::npos)
      << ran.output;
}

TEST_F(Verbs, PredictTakesTheConfigurationOfTheFolderAsCheckDoes) {
  ASSERT_EQ(cleave("record --schedule serial -o toml.cleave -- ./bank").status, 0);
  ASSERT_EQ(cleave("predict toml.cleave --no-replay").status, 1);
  file("cleave.toml", "[units]\nnot_atomic = [\"withdraw\"]\n");
  Ran ran = cleave("predict toml.cleave --no-replay");
  std::filesystem::remove(folder_ + "cleave.toml");
  EXPECT_EQ(ran.status, 0) << ran.output;
}

// Both increments write 1: no triple violates anything by itself (writes of equal values commute), the run
// does.
TEST_F(Verbs, PredictFindsTheLostUpdateThatWritesEqualValues) {
  file("twice.cpp", R"(#include <mutex>
#include <thread>
std::mutex mutex;
int total;
int get() { std::lock_guard guard(mutex); return total; }
void set(int value) { std::lock_guard guard(mutex); total = value; }
void increment() { set(get() + 1); }
int main() { std::thread a(increment), b(increment); a.join(); b.join(); }
)");
  ASSERT_EQ(
      run("cd " + folder_ + " && " + kTools + "cleave-c++ -O1 -std=c++20 -pthread twice.cpp -o twice").output,
      "");
  ASSERT_EQ(cleave("record --schedule serial -o twice.cleave -- ./twice").status, 0);
  Ran ran = cleave("predict twice.cleave --units functions:increment --json twice.json");
  EXPECT_EQ(ran.status, 1) << ran.output;
  nlohmann::json found = nlohmann::json::parse(contents("twice.json"), nullptr, false)["findings"];
  ASSERT_EQ(found.size(), 1u) << ran.output;
  EXPECT_EQ(found[0]["verdict"], "confirmed");
  EXPECT_EQ(found[0]["pattern"], "RWW");
  EXPECT_EQ(found[0]["variable"], "total");
  EXPECT_EQ(found[0]["stages"]["symbolic"], "unsat");
  EXPECT_EQ(cleave("replay " + found[0]["witness"].get<std::string>()).status, 0);
}

TEST(Words, OfAReportAreExplained) {
  for (const std::string word : {"RWR", "RWW", "WWR", "WRW", "WWW", "cycle", "high-level-race", "stale-value",
                                 "failure", "unit", "set", "verdict"}) {
    Ran ran = run(kTools + "cleave explain " + word);
    EXPECT_EQ(ran.status, 0) << word;
    EXPECT_TRUE(ran.output.starts_with(word + ":")) << ran.output;
  }
  EXPECT_EQ(run(kTools + "cleave help replay").output, run(kTools + "cleave replay --help").output);
}

}  // namespace
