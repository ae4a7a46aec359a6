// `cleave trace` and `cleave doctor` from outside: what they print, and one clear sentence and status 2 for
// bad input.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

struct Ran {
  int status = -1;
  std::string output;  // both streams
};

Ran cleave(const std::string& arguments) {
  Ran ran;
  std::string command = std::string("NO_COLOR=1 ") + CLEAVE_BINARY_DIR + "/bin/cleave " + arguments + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  for (char buffer[4096]; size_t got = std::fread(buffer, 1, sizeof buffer, pipe);)
    ran.output.append(buffer, got);
  int status = pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

class TraceVerb : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "cleave_trace_verb." + std::to_string(getpid()) + "/";
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name, const std::string& contents) {
    std::ofstream(folder_ + name, std::ios::binary) << contents;
    return folder_ + name;
  }
  // Status 2, and exactly one line that begins with "cleave: " and holds `part`.
  void bad(const std::string& arguments, const std::string& part) {
    Ran ran = cleave(arguments);
    EXPECT_EQ(ran.status, 2) << arguments << "\n" << ran.output;
    EXPECT_EQ(ran.output.find("cleave: "), 0u) << ran.output;
    EXPECT_EQ(ran.output.find('\n'), ran.output.size() - 1) << ran.output;
    EXPECT_NE(ran.output.find(part), std::string::npos) << ran.output;
  }
  std::string folder_;
};

constexpr const char* kText =
    "# cleave text trace 1\nmain fork T1\nT1 begin withdraw\nT1 read acc.balance 0 @bank.cpp:3\nT1 write "
    "acc.balance 5 @bank.cpp:4\nT1 end\nmain join T1\n";

TEST_F(TraceVerb, BadInputGetsOneSentenceAndStatusTwo) {
  for (std::string verb : {"stats", "dump", "validate", "export", "import"}) {
    bad("trace " + verb + " " + folder_ + "none.cleave", "cannot be opened: No such file or directory");
    bad("trace " + verb + " " + folder_, "is a directory");
    bad("trace " + verb + " " + file("empty", ""), "is empty");
    bad("trace " + verb + " " + file("zeros", std::string(100, '\0')), "is not a trace");
    bad("trace " + verb + " " + file("word", "hello\n"), "line 1: 'hello' stands alone");
    bad("trace " + verb + " " + file("line", "T1 read x 1\nT1 frob x\n"), "line 2: 'frob' is not an event");
    bad("trace " + verb + " " + file("rapid", "T1|r(x)|1\nT1|zap(x)|2\n"),
        "line 2: 'zap' is not an operation");
    bad("trace " + verb + " " + file("later", "# cleave text trace 9\n"),
        "line 1: a text trace of another version");
    std::string magic("\x01\x43\x4c\x45\x41\x56\x45\x31", 8);
    bad("trace " + verb + " " + file("short", magic + "abc"), "too short to be a trace");
    bad("trace " + verb + " " +
            file("version", magic + std::string("\x63\0\0\0\x20\0\0\0", 8) + std::string(16, '\0')),
        "is a trace of version 99");
  }
  bad("trace validate /bin/true", "is a program, not a trace");
  bad("trace stats /bin/true", "/bin/true");
  bad("trace", "subcommand");
  bad("trace dump", "TRACE");
  bad("trace dump --colour x y", "");
  bad("trace import --format yaml " + file("t.txt", kText), "");
  bad("trace import " + file("t.txt", kText) + " -o " + folder_ + "no/such/place", "cannot be written");
  bad("trace dump " + file("t.txt", kText) + " --thread T7", "the trace has no thread T7; it has main, T1");
  bad("trace dump " + file("t.txt", kText) + " --around 99", "the trace has 6 events, no event 99");
}

TEST_F(TraceVerb, ExportAfterImportGivesTheSameText) {
  std::string text = file("t.txt", kText), binary = folder_ + "t.cleave";
  EXPECT_EQ(cleave("trace import " + text).status, 0);
  Ran exported = cleave("trace export " + binary);
  EXPECT_EQ(exported.status, 0);
  EXPECT_EQ(exported.output, kText);
}

TEST_F(TraceVerb, DumpFilters) {
  std::string text = file("t.txt", kText);
  EXPECT_EQ(cleave("trace dump " + text + " --variable 'acc.*' --to 3").output,
            " 2  T1      read acc.balance = 0                            bank.cpp:3\n 3  T1      write "
            "acc.balance ← 5                           bank.cpp:4\n");
  EXPECT_EQ(cleave("trace dump --thread main " + text).output, " 0  main  fork T1\n 5  main  join T1\n");
}

TEST_F(TraceVerb, ValidateSaysWhereATraceDoesNotHold) {
  EXPECT_EQ(cleave("trace validate " + file("good.txt", kText)).status, 0);
  Ran ran = cleave("trace validate " + file("bad.txt", "T1 acquire m\nT2 acquire m\n"));
  EXPECT_EQ(ran.status, 1);
  EXPECT_NE(ran.output.find("event 1: T2 acquire m: m is held by T1"), std::string::npos) << ran.output;
}

TEST_F(TraceVerb, StatsCountEventsByKindAndThread) {
  Ran ran = cleave("trace stats " + file("t.txt", kText));
  EXPECT_EQ(ran.status, 0);
  EXPECT_NE(ran.output.find("6 events"), std::string::npos) << ran.output;
  EXPECT_NE(ran.output.find("1 variables, 1 objects"), std::string::npos) << ran.output;
}

TEST_F(TraceVerb, HelpIsThereAndEndsWithAnExample) {
  for (std::string verb :
       {"trace", "trace stats", "trace dump", "trace validate", "trace import", "trace export", "doctor"}) {
    Ran ran = cleave(verb + " --help");
    EXPECT_EQ(ran.status, 0) << verb;
    EXPECT_NE(ran.output.find("Example: cleave "), std::string::npos) << verb;
  }
}

}  // namespace
