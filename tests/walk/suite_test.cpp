// The whole suite of programs/: each is recorded once and walked; every value that the walk computes beside a
// recorded one must be that one. Run by ctest as walk_suite, when the programs are built.
#include <algorithm>
#include <iostream>

#include "walk/recorded_program.h"

namespace cleave {
namespace {

TEST(Suite, EveryProgramIsWalkedAsItRan) {
  std::vector<std::filesystem::path> programs;
  const char* elsewhere = std::getenv("CLEAVE_PROGRAMS");
  const std::filesystem::path folder =
      elsewhere != nullptr ? elsewhere : CLEAVE_BINARY_DIR "/programs/cleave";
  ASSERT_TRUE(std::filesystem::is_directory(folder))
      << "build the programs first: cmake --build build --target programs_cleave";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().extension().empty()) programs.push_back(entry.path());
  }
  std::sort(programs.begin(), programs.end());
  EXPECT_GT(programs.size(), 50u);
  uint64_t compared = 0, branches = 0, branches_symbolic = 0, branches_concretized = 0;
  uint64_t stores = 0, stores_symbolic = 0, stores_concretized = 0;
  for (const std::filesystem::path& program : programs) {
    std::string trace = (scratch_folder() / "suite.cleave").string();
    shell("cd " + scratch_folder().string() + " && timeout 60 " CLEAVE_BINARY_DIR "/bin/cleave record -o " +
          trace + " -- " + program.string());
    auto walked = load_recorded(trace, program.string());
    ASSERT_TRUE(walked) << program;
    Result<SymbolicTrace> symbolic =
        walk_recorded_paths(walked->recorded, {walked->program}, &walked->report);
    ASSERT_TRUE(symbolic.ok()) << program << ": " << symbolic.error().sentence();
    const WalkReport& r = walked->report;
    EXPECT_EQ(r.mismatches, 0u) << program << "\n" << walked->remarks();
    EXPECT_EQ(r.threads_lost, 0u) << program << "\n" << walked->remarks();
    compared += r.values_compared;
    branches += r.branches, branches_symbolic += r.branches_symbolic,
        branches_concretized += r.branches_concretized;
    stores += r.shared_writes, stores_symbolic += r.shared_writes_symbolic,
        stores_concretized += r.shared_writes_concretized;
  }
  EXPECT_GT(compared, 10'000u);
  std::cout << programs.size() << " programs, " << compared << " values compared; " << branches
            << " branches: " << branches_symbolic << " symbolic, " << branches_concretized << " concretized; "
            << stores << " shared stores: " << stores_symbolic << " symbolic, " << stores_concretized
            << " concretized\n";
}

}  // namespace
}  // namespace cleave
