// However a program ends, its trace has what it did up to there: programs/ends.cpp at two levels, recorded
// free and under control, coded and raw.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "trace/core/describe.h"
#include "trace/core/load.h"
#include "trace/core/no_value.h"

namespace cleave {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

class Ends : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() {
    folder() = fs::temp_directory_path() / fmt::format("cleave-ends-{}", getpid());
    fs::create_directories(folder());
  }
  static void TearDownTestSuite() { fs::remove_all(folder()); }
  static fs::path& folder() {
    static fs::path path;
    return path;
  }
  static void run(const std::string& line) {
    (void)!std::system(("cd " + folder().string() + " && " + line + " > /dev/null 2>&1").c_str());
  }
  // What the program did after its second thread was through, as far as `functions` did it: "main read n 0".
  static Lines last_accesses(const std::string& path) {
    Result<Trace> loaded = load_trace(path);
    EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().sentence());
    Lines lines;
    if (!loaded) return lines;
    const Trace& trace = loaded.value();
    for (const Event& event : trace.events()) {
      if (event.kind == EventKind::Exit && trace.thread(event.thread).name == "T1") lines.clear();
      if (!is_access(event.kind) || event.site == kNone<SiteId>) continue;
      if (trace.site(event.site).function == "main" || trace.site(event.site).function == "run") continue;
      if (event.value == kFreed && event.kind == EventKind::Write) continue;  // what abort and assert free
      const std::string& name = trace.variable(event.variable()).name;
      std::string value = name == "page" ? "address" : value_text(event.value);
      lines.push_back(
          fmt::format("{} {} {} {}", trace.thread(event.thread).name, word_of(event.kind), name, value));
    }
    return lines;
  }
};

constexpr const char* kModes[] = {"BIN/cleave record -o ends.cleave -- ./ends",
                                  "BIN/cleave record --schedule serial -o ends.cleave -- ./ends",
                                  "BIN/cleave record --schedule random --seed 3 -o ends.cleave -- ./ends",
                                  "env CLEAVE_TRACE=ends.cleave CLEAVE_TRACE_RAW=1 ./ends"};

TEST_P(Ends, TheLastAccessesAreInTheTrace) {
  const std::string bin = CLEAVE_BINARY_DIR "/bin";
  run(bin + "/cleave-c++ -std=c++20 -pthread " + GetParam() +
      " " CLEAVE_SOURCE_DIR "/tests/ends/programs/ends.cpp -o ends");
  const std::pair<std::string, Lines> ways[] = {
      {"read_null", {"main read n 0", "main write sum 0", "main read p 0"}},
      {"write_null", {"main read n 0", "main write sum 0", "main read n 0", "main read p 0"}},
      {"read_unmapped",
       {"main read n 0", "main write sum 0", "main read page address",
        "main read mmap@ends.cpp:108+8 freed"}},
      {"write_unmapped",
       {"main read n 0", "main write sum 0", "main read page address", "main write mmap@ends.cpp:108+4 7"}},
      {"read_far", {"main read n 0", "main write sum 0"}},
      {"call_abort", {"main read n 0", "main write sum 0", "main write sum 4"}},
      {"fail_assertion", {"main write sum 4", "main read n 0"}},
      {"take_signal", {"main read n 0", "main write sum 0"}},
      {"leave_thread", {"T2 write sum 8"}},
      {"let_other_exit", {"T2 write sum 9"}},
      {"throw_out", {"main read n 0", "main write sum 0"}},
      {"leave_at_once", {"main read n 0", "main write sum 0"}},
      {"divide", {"main read n 0", "main write sum 0", "main read cell 5", "main read n 0"}}};
  for (std::string mode : kModes) {
    if (size_t at = mode.find("BIN"); at != std::string::npos) mode.replace(at, 3, bin);
    for (const auto& [way, expected] : ways) {
      fs::remove(folder() / "ends.cleave");
      run("timeout 60 " + mode + " " + way);
      EXPECT_EQ(last_accesses(folder() / "ends.cleave"), expected) << way << ": " << mode;
    }
  }
}

// A local variable that another thread has read is gone with its frame.
TEST_P(Ends, TheEndOfAFrameIsAWrite) {
  const std::string bin = CLEAVE_BINARY_DIR "/bin";
  run(bin + "/cleave-c++ -std=c++20 -pthread " + GetParam() +
      " " CLEAVE_SOURCE_DIR "/tests/ends/programs/ends.cpp -o ends");
  fs::remove(folder() / "ends.cleave");
  run("timeout 60 " + bin + "/cleave record -o ends.cleave -- ./ends lend");
  Result<Trace> loaded = load_trace(folder() / "ends.cleave");
  ASSERT_TRUE(loaded.ok());
  const Trace& trace = loaded.value();
  VariableId read = kNone<VariableId>;
  size_t ends = 0;
  for (const Event& event : trace.events()) {
    if (event.kind == EventKind::Read && event.value == 6) read = event.variable();
    if (event.kind != EventKind::Write || event.value != kFreed) continue;
    if (trace.site(event.site).function != "lend") continue;
    ++ends;
    EXPECT_EQ(event.variable(), read);
    EXPECT_EQ(trace.thread(event.thread).name, "main");
  }
  EXPECT_EQ(ends, 1u);
}

INSTANTIATE_TEST_SUITE_P(Levels, Ends, testing::Values("-O0", "-O2"),
                         [](const auto& level) { return std::string(level.param + 1); });

}  // namespace
}  // namespace cleave
