#include "base/temporary.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/private_file.h"

namespace cleave {
namespace {

class Temporary : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "temporary_test." + std::to_string(getpid());
    std::filesystem::create_directories(folder_);
    setenv("TMPDIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("TMPDIR");
    std::filesystem::remove_all(folder_);
  }
  mode_t mode(const std::string& path) const {
    struct stat facts{};
    return stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777 : 0;
  }
  std::string read(const std::string& path) const {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  std::string folder_;
};

TEST_F(Temporary, HasNoNameAndCanBeOpenedByOtherProcesses) {
  for (auto place :
       {TemporaryFile::Place::Disk, TemporaryFile::Place::Memory, TemporaryFile::Place::Either}) {
    Result<TemporaryFile> file = TemporaryFile::make("test", place);
    ASSERT_TRUE(file.ok());
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
    EXPECT_EQ(mode(file.value().path()), 0600u);
    ASSERT_EQ(system(("printf written >> " + file.value().path()).c_str()), 0);
    EXPECT_EQ(read(file.value().path()), "written");
  }
}

TEST_F(Temporary, NothingIsLeftOfAProcessThatIsKilled) {
  const pid_t child = fork();
  if (child == 0) {
    Result<TemporaryFile> file = TemporaryFile::make("test");
    kill(getpid(), file.ok() ? SIGKILL : SIGABRT);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Temporary, AFolderThatIsNotThereIsNamed) {
  setenv("TMPDIR", (folder_ + "/none").c_str(), 1);
  Result<TemporaryFile> file = TemporaryFile::make("test");
  ASSERT_FALSE(file.ok());
  EXPECT_NE(file.error().sentence().find("/none: no temporary file can be made there: No such file"),
            std::string::npos);
}

TEST_F(Temporary, PrivateFilesAreForTheirOwnerWhateverTheUmask) {
  const std::string path = folder_ + "/private";
  for (mode_t mask : {0u, 0777u, 022u}) {
    const mode_t before = umask(mask);
    Result<int> made = create_private_file(path);
    umask(before);
    ASSERT_TRUE(made.ok());
    close(made.value());
    EXPECT_EQ(mode(path), 0600u);
    ASSERT_TRUE(write_private_file(path, "text").ok());
    EXPECT_EQ(mode(path), 0600u);
    EXPECT_EQ(read(path), "text");
    std::filesystem::remove(path);
  }
  std::ofstream(path) << "readable by all";
  chmod(path.c_str(), 0644);
  Result<int> again = create_private_file(path);
  ASSERT_TRUE(again.ok());
  close(again.value());
  EXPECT_EQ(mode(path), 0600u);
}

TEST_F(Temporary, PrivateFilesAreNotWrittenThroughALink) {
  std::ofstream(folder_ + "/precious") << "precious";
  std::filesystem::create_symlink(folder_ + "/precious", folder_ + "/witness");
  ASSERT_TRUE(write_private_file(folder_ + "/witness", "text").ok());
  EXPECT_EQ(read(folder_ + "/precious"), "precious");
  EXPECT_EQ(read(folder_ + "/witness"), "text");
}

}  // namespace
}  // namespace cleave
