// Programs whose interleaving is forced, built by cleave-c++, recorded and checked: the cycles that come out,
// exactly.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "report/json.h"

namespace cleave {
namespace {

const std::string kBin = CLEAVE_BINARY_DIR "/bin/";
const std::string kSource = CLEAVE_SOURCE_DIR "/tests/check_programs/source/";

class Programs : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() / fmt::format("cleave-check-programs-{}", getpid());
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string build(const std::string& source, const std::string& flags) {
    std::string program = directory_ / "program";
    std::string compiler = source.ends_with(".c") ? "cleave-cc" : "cleave-c++ -std=c++20";
    run(fmt::format("{}{} -g -O1 -pthread {} {}{} -o {}", kBin, compiler, flags, kSource, source, program));
    return program;
  }
  // "set: unit unit" of every finding.
  std::vector<std::string> cycles(const std::string& json) {
    std::ifstream file(json);
    std::stringstream text;
    text << file.rdbuf();
    Result<Findings> findings = report::from_json(text.str(), json);
    EXPECT_TRUE(findings.ok()) << (findings.ok() ? "" : findings.error().sentence());
    std::vector<std::string> lines;
    if (!findings) return lines;
    for (const Finding& finding : findings.value().findings) {
      std::string line = finding.set + ":";
      for (const UnitReport& unit : finding.units) line += " " + unit.name;
      lines.push_back(line);
      EXPECT_EQ(finding.verdict, Verdict::Witnessed);
    }
    return lines;
  }
  std::vector<std::string> check(const std::string& source, const std::string& flags,
                                 const std::string& options = "") {
    std::string program = build(source, flags);
    std::string trace = directory_ / "trace", json = directory_ / "findings.json";
    run(fmt::format("{}cleave record -o {} -- {}", kBin, trace, program));
    run(fmt::format("{}cleave check --quiet {} --json {} {} > /dev/null", kBin, options, json, trace), 1);
    return cycles(json);
  }
  std::vector<std::string> check_live(const std::string& source, const std::string& flags) {
    std::string program = build(source, flags);
    std::string json = directory_ / "live.json";
    run(fmt::format("{}cleave check --quiet --json {} -- {} > /dev/null", kBin, json, program), 1);
    return cycles(json);
  }
  // The exit status may be at most `worst`: cleave check gives 1 when it found something.
  void run(const std::string& command, int worst = 0) {
    int status = std::system(command.c_str());
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) <= worst) << command;
  }

  std::filesystem::path directory_;
};

using Lines = std::vector<std::string>;

TEST_F(Programs, TwoRelatedFields) {
  EXPECT_EQ(check("two_fields.cpp", ""), Lines{"Range: Range::set Range::valid"});
  EXPECT_EQ(check("two_fields.cpp", "-DREPAIRED"), Lines{});
}

TEST_F(Programs, StructsOfC) {
  EXPECT_EQ(check("c_struct.c", ""), Lines{"account: total transfer"});
  EXPECT_EQ(check("c_struct.c", "-DREPAIRED"), Lines{});
}

TEST_F(Programs, StaticsOfAFile) {
  EXPECT_EQ(check("statics.c", "").size(), 1u);
  EXPECT_EQ(check("statics.c", "-DREPAIRED"), Lines{});
}

TEST_F(Programs, InheritedFields) {
  EXPECT_EQ(check("inheritance.cpp", ""), Lines{"Statistics: Statistics::add Statistics::average"});
  EXPECT_EQ(check("inheritance.cpp", "-DREPAIRED"), Lines{});
}

TEST_F(Programs, OwnedMember) {
  EXPECT_EQ(check("owned.cpp", ""), Lines{"Ledger: Ledger::audit Ledger::deposit"});
  EXPECT_EQ(check("owned.cpp", "-DREPAIRED"), Lines{});
}

TEST_F(Programs, QueueWithAConditionVariable) {
  EXPECT_EQ(check("queue.cpp", ""), Lines{});
  EXPECT_EQ(check("queue.cpp", "", "--no-wait-split"), Lines{"Queue: Queue::put Queue::take"});
  EXPECT_EQ(check("queue.cpp", "-DBROKEN"), Lines{"Queue: Queue::take Queue::try_take"});
}

TEST_F(Programs, GettersAndSettersMakeTheirCallerAUnit) {
  EXPECT_EQ(check("accessors.cpp", "", "--units methods"), Lines{"Cell: increment increment"});
  EXPECT_EQ(check("accessors.cpp", "-DREPAIRED", "--units methods"), Lines{});
}

TEST_F(Programs, LiveFindsTheSame) {
  EXPECT_EQ(check_live("two_fields.cpp", ""), Lines{"Range: Range::set Range::valid"});
  EXPECT_EQ(check_live("owned.cpp", ""), Lines{"Ledger: Ledger::audit Ledger::deposit"});
  EXPECT_EQ(check_live("two_fields.cpp", "-DREPAIRED"), Lines{});
}

}  // namespace
}  // namespace cleave
