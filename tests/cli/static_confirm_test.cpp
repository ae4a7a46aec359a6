// cleave static --confirm: what the analysis finds is tried on the running program.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/command.h"

namespace {

// Two customers may find the same free seat; a clerk who never meets another books one.
constexpr const char* kTheatre = R"(#include <mutex>
#include <thread>
struct Theatre {
  std::mutex mutex;
  int next = 0, sold = 0;
  int free_seat() { std::lock_guard guard(mutex); return next; }
  void sell(int seat) { std::lock_guard guard(mutex); next = seat + 1; ++sold; }
};
static Theatre theatre;
static std::mutex counter;
void customer() {
#ifdef FIXED
  std::lock_guard whole(counter);
#endif
  int seat = theatre.free_seat();
  theatre.sell(seat);
}
int main() {
  std::thread one(customer), two(customer);
  one.join();
  two.join();
  return theatre.next == theatre.sold ? 0 : 3;
}
)";

class StaticConfirm : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "cleave_static_confirm." + std::to_string(getpid()) + "/";
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void build(const std::string& flags) {
    std::ofstream(folder_ + "theatre.cpp") << kTheatre;
    Ran ran = run("cd " + folder_ + " && " + kTools + "cleave-c++ -g -O1 -std=c++20 -pthread " + flags +
                  " theatre.cpp -o theatre");
    ASSERT_EQ(ran.status, 0) << ran.output;
  }
  Ran cleave(const std::string& arguments) {
    return run("cd " + folder_ + " && NO_COLOR=1 " + kTools + "cleave " + arguments);
  }
  std::string folder_;
};

TEST_F(StaticConfirm, AStaleValueIsConfirmedWithAWitnessThatReplays) {
  build("");
  Ran ran = cleave("static --confirm --executions 40 --json out.json -- ./theatre");
  EXPECT_EQ(ran.status, 1) << ran.output;
  nlohmann::json out = nlohmann::json::parse(std::ifstream(folder_ + "out.json"), nullptr, false);
  ASSERT_TRUE(out.is_object()) << ran.output;
  std::string witness;
  bool failed = false;
  for (const nlohmann::json& finding : out["findings"]) {
    if (finding["kind"] == "failure") failed = true;
    if (finding["kind"] != "stale-value" || finding["verdict"] != "confirmed") continue;
    EXPECT_NE(finding["note"].get<std::string>().find("An execution shows it"), std::string::npos);
    witness = finding["witness"];
  }
  EXPECT_TRUE(failed) << ran.output;
  ASSERT_NE(witness, "") << ran.output;
  Ran replayed = cleave("replay " + witness);
  EXPECT_EQ(replayed.status, 0) << replayed.output;
}

TEST_F(StaticConfirm, TheRepairedProgramHasNothingConfirmed) {
  build("-DFIXED");
  Ran ran = cleave("static --confirm --executions 20 --fail-on confirmed -- ./theatre");
  EXPECT_EQ(ran.status, 0) << ran.output;
}

TEST_F(StaticConfirm, WrongUsageIsOneSentence) {
  build("");
  for (auto [arguments, part] :
       {std::pair("static", "no program was given"),
        std::pair("static --confirm", "cleave static --confirm -- PROG"),
        std::pair("static -- ./theatre", "add --confirm"),
        std::pair("static --executions 3 ./theatre", "--executions: is for --confirm"),
        std::pair("static --confirm ./theatre -- ./theatre", "given twice"),
        std::pair("static --confirm --budget soon -- ./theatre", "is not a duration")}) {
    Ran ran = cleave(arguments);
    EXPECT_EQ(ran.status, 2) << arguments << "\n" << ran.output;
    EXPECT_NE(ran.output.find(part), std::string::npos) << arguments << "\n" << ran.output;
    EXPECT_EQ(ran.output.find('\n'), ran.output.size() - 1) << ran.output;
  }
}

}  // namespace
