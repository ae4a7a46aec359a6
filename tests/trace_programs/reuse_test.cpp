// The whole suite of programs/, each recorded once: streamed with ids that are used again the events are
// those that they are with an id for everything, and no event has an id of something that has ended.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "trace/same_stream.h"

namespace cleave {
namespace {

TEST(Suite, NothingIsTouchedAfterItsEnd) {
  namespace fs = std::filesystem;
  const char* elsewhere = std::getenv("CLEAVE_PROGRAMS");
  const fs::path folder = elsewhere != nullptr ? elsewhere : CLEAVE_BINARY_DIR "/programs/cleave";
  ASSERT_TRUE(fs::is_directory(folder))
      << "build the programs first: cmake --build build --target programs_cleave";
  std::vector<fs::path> programs;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().extension().empty()) programs.push_back(entry.path());
  }
  std::sort(programs.begin(), programs.end());
  EXPECT_GT(programs.size(), 50u);
  const fs::path scratch = fs::path(testing::TempDir()) / "cleave_trace_programs";
  fs::create_directories(scratch);
  size_t events = 0, variables = 0, objects = 0, syncs = 0, saved_variables = 0, saved_objects = 0;
  for (const fs::path& program : programs) {
    std::string trace = (scratch / "suite.cleave").string();
    fs::remove(trace);
    std::string line = "cd " + scratch.string() +
                       " && timeout 60 " CLEAVE_BINARY_DIR "/bin/cleave record -o " + trace + " -- " +
                       program.string() + " > /dev/null 2>&1";
    (void)!std::system(line.c_str());
    StreamComparison result = compare_streams(trace, false);
    EXPECT_EQ(result.difference, "") << program;
    EXPECT_GT(result.events, 0u) << program;
    events += result.events;
    variables += result.freed_variables, objects += result.freed_objects, syncs += result.freed_syncs;
    saved_variables += result.all_variables - result.variables;
    saved_objects += result.all_objects - result.objects;
  }
  fs::remove_all(scratch);
  // That there was something to compare. How much depends on the runs: what is given back while there are
  // several threads stays known until its addresses are used again or there is very much of it, and has not
  // ended if the program ends first.
  EXPECT_GT(variables, 1000u);
  EXPECT_GT(objects, 500u);
  EXPECT_GT(saved_variables, 100u);
  EXPECT_GT(saved_objects, 30u);
  std::cout << programs.size() << " programs, " << events << " events; ended: " << variables << " variables, "
            << objects << " objects, " << syncs << " locks; used again: " << saved_variables
            << " ids of variables, " << saved_objects << " of objects\n";
}

}  // namespace
}  // namespace cleave
