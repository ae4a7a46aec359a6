// Golden files: compared byte by byte, rewritten only when CLEAVE_UPDATE_GOLDEN=1 is set.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace cleave {

inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(CLEAVE_SOURCE_DIR) + "/tests/report/golden/" + name;
  const char* update = std::getenv("CLEAVE_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream in(path, std::ios::binary);
  ASSERT_TRUE(in) << path << " is missing; write it with CLEAVE_UPDATE_GOLDEN=1";
  std::ostringstream golden;
  golden << in.rdbuf();
  EXPECT_EQ(text, golden.str()) << "golden file " << path;
}

}  // namespace cleave
