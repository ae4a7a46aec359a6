// How a process may end, and what becomes of its trace: tests/runtime/programs/ends.c and others.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "runtime/recording.h"

namespace cleave::test {
namespace {

using Names = std::vector<std::string>;

bool ended(const Recording& run, const std::string& text) {
  return run.trace.end_texts.size() == 1 && run.trace.end_texts[0].find(text) != std::string::npos;
}

// Values that a thread wrote, in order (hand.h: word 1 of a write segment).
std::vector<uint64_t> written(const RawTrace& trace, uint32_t thread) {
  std::vector<uint64_t> values;
  for (const RawRecord& record : trace.threads.at(thread))
    for (const RawModule& module : trace.modules)
      if (record.kind() == module.segments + 4) {
        values.push_back(record.words[1]);
        break;
      }
  return values;
}

// Files beside the trace that its process' children left.
std::vector<std::string> child_traces(const Recording& run) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(run.path).parent_path()))
    if (entry.path() != run.path) paths.push_back(entry.path());
  return paths;
}

TEST(Ends, Return) {
  Recording run = record_program("ends", "return");
  EXPECT_EQ(run.status, 3);
  EXPECT_TRUE(ended(run, "\"ended\": \"exit\", \"status\": 3"));
  EXPECT_EQ(run.trace.names(0), (Names{"thread_start", "write", "thread_exit"}));
}

TEST(Ends, ExitAtOnce) {
  Recording run = record_program("ends", "_exit");
  EXPECT_EQ(run.status, 4);
  EXPECT_TRUE(ended(run, "\"ended\": \"_exit\", \"status\": 4"));
  EXPECT_EQ(run.trace.names(0), (Names{"thread_start", "write", "thread_exit"}));
}

TEST(Ends, QuickExit) {
  Recording run = record_program("ends", "quick_exit");
  EXPECT_EQ(run.status, 5);
  EXPECT_TRUE(ended(run, "\"ended\": \"quick_exit\", \"status\": 5"));
  EXPECT_EQ(run.trace.names(0), (Names{"thread_start", "write", "thread_exit"}));
}

TEST(Ends, Abort) {
  Recording run = record_program("ends", "abort");
  EXPECT_EQ(run.status, 128 + SIGABRT);
  EXPECT_NE(run.said.find("signal 6 (Aborted)"), std::string::npos) << run.said;
  EXPECT_TRUE(ended(run, "\"ended\": \"signal\", \"signal\": 6"));
  EXPECT_EQ(run.trace.names(0), (Names{"thread_start", "write", "fault"}));
}

TEST(Ends, TerminatedFromOutside) {
  Recording run = record_program("ends", "term");
  EXPECT_EQ(run.status, 128 + SIGTERM);
  EXPECT_TRUE(ended(run, "\"signal\": 15"));
  EXPECT_EQ(run.trace.names(0), (Names{"thread_start", "write", "fault"}));
}

// Most of the time the signal comes while a buffer is being written.
TEST(Ends, ASignalAtAnyMomentLosesNothing) {
  for (int turn = 0; turn < 25; ++turn) {
    std::string file = scratch_directory("counter") + "/counter";
    Recording run = record_program("ends", "alarm " + std::to_string(3000 + 371 * turn) + " " + file);
    EXPECT_EQ(run.status, 128 + SIGALRM) << run.said;
    EXPECT_TRUE(ended(run, "\"signal\": 14"));
    uint64_t counted = 0;
    std::ifstream(file, std::ios::binary).read(reinterpret_cast<char*>(&counted), sizeof counted);
    std::vector<uint64_t> values = written(run.trace, 0);
    while (!values.empty() && values.back() == 0) values.pop_back();  // cut before its value was there
    ASSERT_FALSE(values.empty());
    EXPECT_GE(values.back() + 1, counted) << "turn " << turn;
    EXPECT_EQ(values.size(), values.back()) << "turn " << turn;
  }
}

TEST(Ends, KilledLeavesAReadableFileWithoutAnEnd) {
  Recording run = record_program("ends", "kill");
  EXPECT_EQ(run.status, 128 + SIGKILL);
  EXPECT_TRUE(run.trace.end_texts.empty());
  EXPECT_EQ(run.trace.modules.size(), 1u);
}

TEST(Ends, CrashWritesTheFaultAndAllThreads) {
  Recording run = record_program("ends", "segv");
  EXPECT_EQ(run.status, 128 + SIGSEGV);
  EXPECT_TRUE(ended(run, "\"signal\": 11"));
  // The read that crashed was announced and did not happen: a cut says that only its address is valid.
  Names names = run.trace.names(0);
  std::erase(names, "alloc");
  EXPECT_EQ(names, (Names{"thread_start", "write", "fork", "detach", "read", "cut", "fault"}));
  EXPECT_EQ(run.trace.all("cut")[0].words[0], 1u);
  EXPECT_EQ(run.trace.all("fault")[0].words[0], 11u);
  EXPECT_EQ(run.trace.all("fault")[0].words[1], 8u);
  EXPECT_EQ(written(run.trace, 1)[0], 11u);
  EXPECT_GT(written(run.trace, 1).size(), 1u);
}

TEST(Ends, StackOverflow) {
  Recording run = record_program("ends", "overflow");
  EXPECT_EQ(run.status, 128 + SIGSEGV);
  EXPECT_TRUE(ended(run, "\"signal\": 11"));
  EXPECT_EQ(run.trace.names(0), (Names{"thread_start", "write", "fault"}));
}

TEST(Ends, OtherThreadsStillRun) {
  Recording run = record_program("ends", "exit-while-running");
  EXPECT_EQ(run.status, 0);
  EXPECT_TRUE(ended(run, "\"ended\": \"exit\""));
  std::vector<uint64_t> values = written(run.trace, 1);
  ASSERT_GT(values.size(), 1u);
  EXPECT_EQ(values[0], 11u);
  bool cut = !run.trace.all("cut").empty();  // the last value may be one that was not written any more
  for (size_t i = 1; i + cut < values.size(); ++i) ASSERT_EQ(values[i], i - 1);
}

TEST(Ends, MainThreadEndsBeforeTheProcess) {
  Recording run = record_program("ends", "main-thread-exits");
  EXPECT_EQ(run.status, 0);
  EXPECT_TRUE(ended(run, "\"ended\": \"exit\""));
  EXPECT_EQ(run.trace.names(0).back(), "thread_exit");
  EXPECT_EQ(written(run.trace, 1)[0], 11u);
}

TEST(Ends, ForkedChildHasItsOwnFile) {
  Recording run = record_program("ends", "fork");
  EXPECT_EQ(run.status, 0) << run.said;
  EXPECT_EQ(written(run.trace, 0), (std::vector<uint64_t>{1, 2}));
  std::vector<std::string> children = child_traces(run);
  ASSERT_EQ(children.size(), 1u);
  RawTrace child = read_raw_trace(children[0]);
  EXPECT_EQ(children[0], run.path + "." + std::to_string(child.process));
  EXPECT_EQ(written(child, 0), (std::vector<uint64_t>{40, 41}));
  EXPECT_EQ(child.names(0), (Names{"thread_start", "write", "write", "thread_exit"}));
  ASSERT_EQ(child.end_texts.size(), 1u);
  EXPECT_NE(child.end_texts[0].find("\"status\": 5"), std::string::npos);
}

TEST(Ends, AChildBeginsWithWhatItsParentHolds) {
  Recording run = record_program("ends", "fork-held");
  EXPECT_EQ(run.status, 0) << run.said;
  EXPECT_EQ(run.trace.names(0),
            (Names{"thread_start", "write", "once_begin", "sem_init", "mutex_lock", "mutex_lock",
                   "shared_lock", "mutex_unlock", "fork", "join", "shared_unlock", "mutex_unlock", "sem_down",
                   "once_end", "write", "thread_exit"}));
  std::vector<std::string> children = child_traces(run);
  ASSERT_EQ(children.size(), 1u);
  RawTrace child = read_raw_trace(children[0]);
  EXPECT_EQ(child.names(0), (Names{"thread_start", "mutex_lock", "shared_lock", "once_begin", "shared_unlock",
                                   "mutex_unlock", "sem_down", "once_end", "write", "thread_exit"}));
  for (const char* name : {"mutex_lock", "shared_lock", "once_begin", "sem_down"})
    EXPECT_EQ(child.all(name)[0].words[1] << 16, 0u) << name << ": its stripe counts from the start again";
  std::string said;
  EXPECT_EQ(run_command(std::string(CLEAVE_BINARY_DIR) + "/bin/cleave trace validate " + children[0], &said),
            0)
      << said;
}

TEST(Ends, SpawnedProgramsLeaveTheirOwnFileOrNone) {
  Recording run = record_program("ends", "spawn");
  EXPECT_EQ(run.status, 0) << run.said;
  EXPECT_EQ(written(run.trace, 0), (std::vector<uint64_t>{1, 2}));
  std::vector<std::string> children = child_traces(run);
  ASSERT_EQ(children.size(), 1u);
  EXPECT_EQ(read_raw_trace(children[0]).names(0), (Names{"thread_start", "write", "thread_exit"}));
}

TEST(Ends, ChildThatOnlyExecutesLeavesNoFile) {
  Recording run = record_program("ends", "fork-exec");
  EXPECT_EQ(run.status, 0) << run.said;
  EXPECT_EQ(written(run.trace, 0), (std::vector<uint64_t>{1, 2}));
  EXPECT_TRUE(child_traces(run).empty());
}

TEST(Ends, ExecEndsTheTrace) {
  Recording run = record_program("ends", "exec");
  EXPECT_EQ(run.status, 8);
  EXPECT_TRUE(ended(run, "\"ended\": \"exec\""));
  EXPECT_EQ(written(run.trace, 0), (std::vector<uint64_t>{1}));
}

TEST(Ends, ExecThatFailsDoesNot) {
  Recording run = record_program("ends", "exec-fails");
  EXPECT_EQ(run.status, 0) << run.said;
  ASSERT_EQ(run.trace.end_texts.size(), 2u);
  EXPECT_NE(run.trace.end_texts[1].find("\"ended\": \"exit\""), std::string::npos);
  EXPECT_EQ(written(run.trace, 0), (std::vector<uint64_t>{1, 2}));
}

TEST(Ends, ExecOfAnotherInstrumentedProgramGetsItsOwnFile) {
  Recording run = record_program("ends", "exec-self");
  EXPECT_EQ(run.status, 3);
  EXPECT_TRUE(ended(run, "\"ended\": \"exec\""));
  std::vector<std::string> others = child_traces(run);
  ASSERT_EQ(others.size(), 1u);
  EXPECT_EQ(written(read_raw_trace(others[0]), 0), (std::vector<uint64_t>{1}));
}

// It is for somebody who reads that file while it is written; others would only fill the memory.
TEST(Ends, OfARawTraceOnlyTheFirstProcessWrites) {
  for (const char* how : {"fork", "fork-held", "spawn", "exec-self"}) {
    Recording run = record_program("ends", how, "CLEAVE_TRACE_RAW=1");
    EXPECT_EQ(run.status, std::string(how) == "exec-self" ? 3 : 0) << how;
    EXPECT_EQ(run.said, "") << how;
    EXPECT_TRUE(child_traces(run).empty()) << how;
  }
}

TEST(Ends, HandlersHaveTheirOwnStream) {
  Recording run = record_program("ends", "handler");
  EXPECT_EQ(run.status, 0) << run.said;
  EXPECT_EQ(written(run.trace, 0), (std::vector<uint64_t>{1, 50, 2}));
  EXPECT_EQ(run.trace.names(0), (Names{"thread_start", "write", "atomic", "write", "write", "thread_exit"}));
  ASSERT_EQ(run.trace.threads.size(), 2u);
  EXPECT_EQ(run.trace.names(1), (Names{"thread_start", "handler_begin", "write", "atomic", "handler_end",
                                       "handler_begin", "write", "atomic", "handler_end"}));
  EXPECT_EQ(run.trace.all("handler_begin")[0].words[0], static_cast<uint64_t>(SIGUSR1));
  EXPECT_EQ(run.trace.all("handler_begin")[0].words[1], 0u);
  auto atomics = run.trace.all("atomic");
  EXPECT_NE(atomics[0].words[2], atomics[1].words[2]);
}

TEST(Ends, HandlersOfAThreadThatEndsAreKept) {
  Recording run = record_program("ends", "handler-in-thread");
  EXPECT_EQ(run.status, 0) << run.said;
  EXPECT_EQ(run.trace.names(1), (Names{"thread_start", "thread_exit"}));
  EXPECT_EQ(run.trace.names(2), (Names{"thread_start", "handler_begin", "write", "atomic", "handler_end"}));
  EXPECT_EQ(run.trace.all("handler_begin")[0].words[1], 1u);
}

TEST(Ends, JumpOutOfAHandlerCutsWhatItInterrupted) {
  Recording run = record_program("ends", "jump");
  EXPECT_EQ(run.status, 0) << run.said;
  EXPECT_EQ(run.trace.names(0), (Names{"thread_start", "write", "write", "cut", "write", "thread_exit"}));
  EXPECT_EQ(run.trace.all("cut")[0].words[0], 1u);
  EXPECT_EQ(run.trace.names(1), (Names{"thread_start", "handler_begin", "write", "handler_end"}));
}

TEST(Ends, TheProgramSeesItsOwnSignalActions) { EXPECT_EQ(record_program("ends", "query").status, 0); }

TEST(Ends, TheProgramCannotCloseItsTrace) {
  Recording run = record_program("ends", "close-all");
  EXPECT_EQ(run.status, 0) << run.said;
  EXPECT_TRUE(ended(run, "\"ended\": \"exit\""));
  EXPECT_EQ(written(run.trace, 0).size(), 30001u);
}

TEST(Ends, FullDiskIsSaidOnceAndTheProgramGoesOn) {
  std::string said;
  std::string command =
      std::string(CLEAVE_BINARY_DIR) + "/bin/cleave record -o /dev/full -- " + program_path("ends");
  EXPECT_EQ(run_command(command + " write-much", &said), 0);
  EXPECT_EQ(said,
            "cleave: the trace cannot be written, and the program goes on unrecorded: /dev/full: No space "
            "left on device\n");
}

TEST(Ends, LimitOnFileSizeIsSaidOnceAndTheProgramGoesOn) {
  Recording run = record_program("ends", "write-much", "ulimit -f 400;");
  EXPECT_EQ(run.status, 0) << run.said;
  EXPECT_NE(run.said.find("File too large"), std::string::npos) << run.said;
  EXPECT_TRUE(run.trace.end_texts.empty());
  std::vector<uint64_t> values = written(run.trace, 0);
  for (size_t i = 1; i < values.size(); ++i) ASSERT_EQ(values[i], i - 1);
}

TEST(Ends, ManyRecordsSurviveManyBuffers) {
  Recording run = record_program("ends", "write-much");
  std::vector<uint64_t> values = written(run.trace, 0);
  ASSERT_EQ(values.size(), 300001u);
  for (size_t i = 1; i < values.size(); ++i) ASSERT_EQ(values[i], i - 1);
  EXPECT_GT(run.trace.record_chunks, 10u);
}

TEST(Threads, FiveThousandShortOnes) {
  Recording run = record_program("many", "50 100");
  EXPECT_EQ(run.status, 0) << run.said;
  EXPECT_EQ(run.trace.threads.size(), 5001u);
  EXPECT_EQ(run.trace.all("thread_exit").size(), 5001u);
  EXPECT_EQ(run.trace.all("join").size(), 5000u);
}

TEST(Threads, MemoryStaysBoundedWithThousandsAtOnce) {
  Recording run = record_program("many", "3000 1");
  EXPECT_EQ(run.status, 0) << run.said;
  EXPECT_EQ(run.trace.threads.size(), 3001u);
  size_t at = run.said.find("VmHWM:");
  ASSERT_NE(at, std::string::npos);
  EXPECT_LT(std::stoul(run.said.substr(at + 6)), 256u * 1024u)
      << "kilobytes, the threads' own stacks included";
}

TEST(Libraries, InstrumentedOnesComeAndGo) {
  Recording run = record_program("loads", program_path("plugin.so"));
  EXPECT_EQ(run.status, 0) << run.said;
  EXPECT_EQ(run.trace.modules.size(), 4u);
  EXPECT_EQ(run.trace.unloads.size(), 3u);
  EXPECT_GE(run.trace.process_texts.size(), 2u);
  EXPECT_NE(run.trace.process_texts.back().find("plugin.so"), std::string::npos);
  EXPECT_EQ(written(run.trace, 0), (std::vector<uint64_t>{100, 0, 101, 1, 102, 2}));
  for (size_t i = 1; i < 4; ++i)
    for (size_t k = i + 1; k < 4; ++k)
      EXPECT_NE(run.trace.modules[i].segments, run.trace.modules[k].segments);
}

TEST(Libraries, PlainOnesToo) {
  Recording run = record_program("loads", program_path("plain_plugin.so"));
  EXPECT_EQ(run.status, 0) << run.said;
  EXPECT_EQ(run.trace.modules.size(), 1u);
  EXPECT_EQ(written(run.trace, 0), (std::vector<uint64_t>{0, 1, 2}));
}

TEST(Command, SaysWhatIsWrongAndWhatToDo) {
  std::string cleave = std::string(CLEAVE_BINARY_DIR) + "/bin/cleave", said;
  std::string directory = scratch_directory("command");
  EXPECT_EQ(run_command(cleave + " record -- /bin/true", &said), 2);
  EXPECT_NE(said.find("was not built with Cleave; build it with cleave-cc"), std::string::npos) << said;
  EXPECT_EQ(run_command(cleave + " record", &said), 2);
  EXPECT_NE(said.find("no program was given"), std::string::npos) << said;
  EXPECT_EQ(run_command(cleave + " record -- /no/such/file", &said), 2);
  EXPECT_NE(said.find("No such file"), std::string::npos) << said;
  EXPECT_EQ(run_command(cleave + " record -- no-such-program-anywhere", &said), 2);
  EXPECT_NE(said.find("no such program in PATH"), std::string::npos) << said;
  EXPECT_EQ(run_command(cleave + " record -- /etc/passwd", &said), 2);
  EXPECT_NE(said.find("cannot be executed"), std::string::npos) << said;
  EXPECT_EQ(run_command(cleave + " record -o /no/such/place/t -- " + program_path("basic"), &said), 2);
  EXPECT_NE(said.find("the trace cannot be written"), std::string::npos) << said;
  EXPECT_EQ(
      run_command("cd " + directory + " && printf '#!/bin/sh\\nexit 3\\n' > script && chmod +x script && " +
                      cleave + " record -- ./script",
                  &said),
      2);
  EXPECT_NE(said.find("nothing was recorded"), std::string::npos) << said;
  EXPECT_FALSE(std::filesystem::exists(directory + "/script.cleave"));
  std::ofstream(directory + "/wrapper") << "#!/bin/sh\nexec " << program_path("basic") << " 3\n";
  EXPECT_EQ(
      run_command("cd " + directory + " && chmod +x wrapper && " + cleave + " record -- ./wrapper", &said),
      3);
  EXPECT_EQ(read_raw_trace(directory + "/wrapper.cleave").threads.size(), 3u);
}

}  // namespace
}  // namespace cleave::test
