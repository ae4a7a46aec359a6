#include "report/source_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cleave::report {
namespace {

class Sources : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "source_files_test." + std::to_string(getpid());
    std::filesystem::create_directories(folder_ + "/root/deep");
    std::filesystem::create_directories(folder_ + "/root-beside");
    for (const char* name :
         {"/root/a.cpp", "/root/deep/b.h", "/root/key", "/root-beside/c.cpp", "/outside.cpp"})
      std::ofstream(folder_ + name) << "first\nsecond\n";
    lines_ = source_lines_from_disk(
        {.roots = {folder_ + "/root"}, .listed = {folder_ + "/outside.cpp", "/dev/zero"}});
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
  SourceLine lines_;
};

TEST_F(Sources, BelowARootOrListedByTheProgram) {
  EXPECT_EQ(lines_(folder_ + "/root/a.cpp", 2), "second");
  EXPECT_EQ(lines_("deep/b.h", 1), "first");
  EXPECT_EQ(lines_(folder_ + "/outside.cpp", 1), "first");
}

TEST_F(Sources, NothingElse) {
  EXPECT_EQ(lines_("/etc/passwd", 1), std::nullopt);
  EXPECT_EQ(lines_(folder_ + "/root-beside/c.cpp", 1), std::nullopt);
  EXPECT_EQ(lines_(folder_ + "/root/../root-beside/c.cpp", 1), std::nullopt);
  EXPECT_EQ(lines_("../root-beside/c.cpp", 1), std::nullopt);
  EXPECT_EQ(lines_(folder_ + "/root/key", 1), std::nullopt);  // not named like source
  std::filesystem::create_symlink(folder_ + "/root-beside/c.cpp", folder_ + "/root/link.cpp");
  EXPECT_EQ(lines_(folder_ + "/root/link.cpp", 1), std::nullopt);
  EXPECT_EQ(lines_(folder_ + "/root", 1), std::nullopt);
}

// A hang fails by the time limit of the whole test.
TEST_F(Sources, NothingThatIsNoFileOrHasNoEnd) {
  EXPECT_EQ(lines_("/dev/zero", 1), std::nullopt);
  ASSERT_EQ(mkfifo((folder_ + "/root/pipe.cpp").c_str(), 0600), 0);
  EXPECT_EQ(lines_(folder_ + "/root/pipe.cpp", 1), std::nullopt);
  std::ofstream(folder_ + "/root/large.cpp") << "first\n";
  std::filesystem::resize_file(folder_ + "/root/large.cpp", kLargestSource + 1);
  EXPECT_EQ(lines_(folder_ + "/root/large.cpp", 1), std::nullopt);
}

}  // namespace
}  // namespace cleave::report
