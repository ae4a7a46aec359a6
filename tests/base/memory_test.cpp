#include "base/memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cleave {
namespace {

class Memory : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "memory_test." + std::to_string(getpid());
    file("proc/meminfo", "MemTotal:       24000 kB\nMemFree:        100 kB\nMemAvailable:    8000 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void file(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(folder_ + "/" + name).parent_path());
    std::ofstream(folder_ + "/" + name) << text;
  }
  uint64_t available() const { return available_memory({folder_ + "/proc", folder_ + "/cgroup"}) >> 10; }
  std::string folder_;
};

TEST_F(Memory, OfTheMachine) { EXPECT_EQ(available(), 8000u); }

TEST_F(Memory, ControlGroupsLeaveLess) {
  file("proc/self/cgroup", "0::/outer/inner\n");
  file("cgroup/outer/memory.max", "max\n");
  file("cgroup/outer/inner/memory.max", "4096000\n");
  file("cgroup/outer/inner/memory.current", "3072000\n");
  EXPECT_EQ(available(), 1000u);
  file("cgroup/outer/inner/memory.stat", "anon 2048000\ninactive_file 1024000\n");
  EXPECT_EQ(available(), 2000u);
  file("cgroup/outer/memory.max", "512000\n");  // the group above counts too
  EXPECT_EQ(available(), 500u);
}

TEST_F(Memory, ControlGroupsOfVersionOne) {
  file("proc/self/cgroup", "5:cpu,cpuacct:/x\n3:memory:/\n");
  file("cgroup/memory/memory.limit_in_bytes", "1024000\n");
  file("cgroup/memory/memory.usage_in_bytes", "2048000\n");
  EXPECT_EQ(available(), 0u);
}

TEST_F(Memory, IsSaidByThisMachine) { EXPECT_GT(available_memory(), 0u); }

}  // namespace
}  // namespace cleave
