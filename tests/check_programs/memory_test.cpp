// What the checker keeps is what there is at a time, however long the trace.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace cleave {
namespace {

const std::string kBin = CLEAVE_BINARY_DIR "/bin/";

// Peak memory of the command itself, in MB; of no shell and no child.
long peak_of(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = fork();
  if (child == 0) {
    if (freopen("/dev/null", "w", stdout) != nullptr) execv(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  EXPECT_EQ(wait4(child, &status, 0, &usage), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << fmt::format("{}", fmt::join(words, " "));
  return usage.ru_maxrss / 1024;
}

TEST(Memory, OfTheCheckerDoesNotGrowWithWhatIsAllocatedAndFreed) {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("cleave-memory-{}", getpid());
  std::filesystem::create_directories(folder);
  std::string program = folder / "churn", trace = folder / "trace";
  ASSERT_EQ(std::system(
                fmt::format(
                    "{}cleave-c++ -std=c++20 -g -O1 -pthread {}/tests/check_programs/source/churn.cpp -o {}",
                    kBin, CLEAVE_SOURCE_DIR, program)
                    .c_str()),
            0);
  long live[2], recorded[2];
  for (int i : {0, 1}) {
    const std::string rounds = i == 0 ? "3000" : "12000";
    live[i] = peak_of({kBin + "cleave", "check", "--quiet", "--lag", "4", "--", program, rounds});
    ASSERT_EQ(
        std::system(
            fmt::format("{}cleave record --quiet -o {} -- {} {}", kBin, trace, program, rounds).c_str()),
        0);
    recorded[i] = peak_of({kBin + "cleave", "check", "--quiet", trace});
  }
  // Four times the trace, of which a few megabytes are mapped at a time. With an entry for everything that
  // ever was it would be hundreds more.
  constexpr long kMapped = 24;
  EXPECT_LT(live[1], live[0] + kMapped);
  EXPECT_LT(recorded[1], recorded[0] + kMapped);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace cleave
