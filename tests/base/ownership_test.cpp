#include "base/ownership.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cleave {
namespace {

class Ownership : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "ownership_test." + std::to_string(getpid());
    file_ = folder_ + "/inner/file";
    std::filesystem::create_directories(folder_ + "/inner");
    std::ofstream(file_) << "text";
    set(folder_, 0755), set(folder_ + "/inner", 0755), set(file_, 0644);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  static void set(const std::string& path, mode_t mode) { ASSERT_EQ(chmod(path.c_str(), mode), 0); }
  std::string folder_, file_;
};

TEST_F(Ownership, OwnFilesInOwnFoldersAreOurs) {
  EXPECT_TRUE(only_we_can_write(file_).ok());
  EXPECT_TRUE(only_we_can_write("/usr/bin/env").ok());
  set(folder_, 01777);  // as /tmp
  EXPECT_TRUE(only_we_can_write(file_).ok());
}

TEST_F(Ownership, WhatOthersCanChangeIsNot) {
  set(file_, 0666);
  EXPECT_NE(only_we_can_write(file_).error().sentence().find("can be written by other users"),
            std::string::npos);
  set(file_, 0644), set(folder_ + "/inner", 0777);
  EXPECT_FALSE(only_we_can_write(file_).ok());
  set(folder_ + "/inner", 0755), set(folder_, 0777);  // somebody could put another folder there
  EXPECT_FALSE(only_we_can_write(file_).ok());
  set(folder_, 0755);
  std::filesystem::create_directories(folder_ + "/open");
  set(folder_ + "/open", 0777);
  std::ofstream(folder_ + "/open/theirs") << "text";
  std::filesystem::create_symlink(folder_ + "/open/theirs", folder_ + "/link");
  EXPECT_FALSE(only_we_can_write(folder_ + "/link").ok());
  EXPECT_FALSE(only_we_can_write(folder_ + "/none").ok());
}

TEST_F(Ownership, WhatBelongsToOthersIsNot) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(chown(file_.c_str(), 65534, 0), 0);
  EXPECT_NE(only_we_can_write(file_).error().sentence().find("belongs to"), std::string::npos);
  ASSERT_EQ(chown(file_.c_str(), 0, 0), 0);
  ASSERT_EQ(chown((folder_ + "/inner").c_str(), 65534, 0), 0);
  EXPECT_FALSE(only_we_can_write(file_).ok());
}

}  // namespace
}  // namespace cleave
