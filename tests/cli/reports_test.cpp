// What commands that run the program tell about it, and where: failing runs are findings, standard output is
// the program's, ids are unique, and what was asked for in vain is said.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "cli/command.h"

namespace {

// Prints one line, and ends with status 1 where its second thread comes between two accesses of the first.
constexpr const char* kFlaky = R"(#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int a, b, wrong;
static void *writer(void *x) { pthread_mutex_lock(&m); a = 1; pthread_mutex_unlock(&m);
  pthread_mutex_lock(&m); b = 1; pthread_mutex_unlock(&m); return x; }
static void *reader(void *x) { pthread_mutex_lock(&m); wrong = a != b; pthread_mutex_unlock(&m); return x; }
int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], 0, writer, 0); pthread_create(&t[1], 0, reader, 0);
  pthread_join(t[0], 0); pthread_join(t[1], 0);
  puts("output of the program");
  return wrong;
}
)";

// Loses an update, and then an assertion fails, where one call of add() comes within another.
constexpr const char* kLost = R"(#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int total;
static int get(void) { pthread_mutex_lock(&m); int x = total; pthread_mutex_unlock(&m); return x; }
static void set(int x) { pthread_mutex_lock(&m); total = x; pthread_mutex_unlock(&m); }
static void *add(void *x) { set(get() + 1); return x; }
int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; ++i) pthread_create(&t[i], 0, add, 0);
  for (int i = 0; i < 2; ++i) pthread_join(t[i], 0);
  assert(total == 2);
  return 0;
}
)";

class Reports : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = testing::TempDir() + "cleave_reports." + std::to_string(getpid()) + "/";
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ + "flaky.c") << kFlaky;
    const std::string build = "cd " + folder_ + " && " + kTools;
    ASSERT_EQ(run(build + "cleave-cc -g -O1 -pthread flaky.c -o flaky").output, "");
    ASSERT_EQ(
        run(build + "cleave-c++ -g -O1 -std=c++20 -pthread " CLEAVE_SOURCE_DIR "/examples/bank.cpp -o bank")
            .output,
        "");
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder_); }

  static Ran cleave(const std::string& arguments) {
    return run("cd " + folder_ + " && NO_COLOR=1 " + kTools + "cleave " + arguments);
  }
  static std::string contents(const std::string& name) {
    std::ifstream in(folder_ + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static nlohmann::json json(const std::string& name) {
    return nlohmann::json::parse(contents(name), nullptr, false);
  }
  static inline std::string folder_;
};

nlohmann::json failure_in(const nlohmann::json& findings) {
  for (const nlohmann::json& finding : findings["findings"]) {
    if (finding["kind"] == "failure") return finding;
  }
  return {};
}

TEST_F(Reports, AFailingRunIsAFinding) {
  // Serial runs of this program are right, and so is what the units say of them: locks alone find nothing.
  Ran right = cleave("check --schedule serial --units locks --json right.json -- ./flaky");
  EXPECT_EQ(right.status, 0) << right.output;
  EXPECT_TRUE(failure_in(json("right.json")).is_null());

  Ran ran = cleave("check --schedule random --runs 40 --units locks --json runs.json -- ./flaky");
  EXPECT_EQ(ran.status, 1) << ran.output;
  const nlohmann::json failure = failure_in(json("runs.json"));
  ASSERT_FALSE(failure.is_null()) << ran.output;
  EXPECT_EQ(failure["verdict"], "witnessed");
  EXPECT_EQ(failure["failure"]["end"], "exit");
  EXPECT_EQ(failure["failure"]["number"], 1);
  EXPECT_EQ(failure["failure"]["runs"], 40);
  const nlohmann::json seeds = failure["failure"]["seeds"];
  EXPECT_EQ(seeds.size(), failure["failure"]["failed"].get<size_t>());
  EXPECT_LT(seeds.size(), 40u);
  EXPECT_NE(ran.output.find("exit status 1"), std::string::npos) << ran.output;
  // The first seed is that run again, and the witness is it too.
  EXPECT_EQ(run("cd " + folder_ + " && " + kTools + "cleave record --schedule random --seed " +
                std::to_string(seeds[0].get<uint64_t>()) + " -o again.cleave -- ./flaky")
                .status,
            1);
  Ran again = cleave("replay " + failure["witness"].get<std::string>());
  EXPECT_EQ(again.status, 0) << again.output;
  EXPECT_NE(again.output.find("exit status 1"), std::string::npos) << again.output;

  EXPECT_EQ(cleave("report runs.json --sarif runs.sarif --html runs.html").status, 1);
  EXPECT_NE(contents("runs.sarif").find("cleave/failure"), std::string::npos);
  EXPECT_NE(contents("runs.html").find("failure: exit status 1"), std::string::npos);
}

TEST_F(Reports, RecordCountsFailuresByKindAndReturnsTheProgramsStatus) {
  Ran ran = cleave("record --schedule random --runs 40 -o r.cleave -- ./flaky");
  EXPECT_EQ(ran.status, 1) << ran.output;
  EXPECT_NE(ran.output.find("The program ended with exit status 1 in "), std::string::npos) << ran.output;
  EXPECT_NE(ran.output.find("cleave replay flaky."), std::string::npos) << ran.output;
}

TEST_F(Reports, PredictTellsOfRunsThatFailed) {
  std::ofstream(folder_ + "lost.c") << kLost;
  ASSERT_EQ(run("cd " + folder_ + " && " + kTools + "cleave-cc -g -O1 -pthread lost.c -o lost").output, "");
  ASSERT_EQ(cleave("record --schedule serial -o p.cleave -- ./lost").status, 0);
  Ran ran = cleave("predict p.cleave --units functions:add --json p.json");
  EXPECT_EQ(ran.status, 1) << ran.output;
  const nlohmann::json failure = failure_in(json("p.json"));
  ASSERT_FALSE(failure.is_null()) << ran.output;
  EXPECT_EQ(failure["failure"]["end"], "signal");
  EXPECT_EQ(failure["failure"]["number"], 6);
  EXPECT_NE(cleave("replay " + failure["witness"].get<std::string>()).output.find("signal 6"),
            std::string::npos);
}

TEST_F(Reports, StandardOutputIsTheProgramsAlone) {
  const std::string text = "output of the program\n";
  for (std::string verb : {"check", "check --runs 2", "check --schedule random", "record -o s.cleave",
                           "record --runs 2 --schedule random -o s.cleave"}) {
    const std::string runs = verb.find("--runs 2") != std::string::npos ? text + text : text;
    cleave(verb + " -- ./flaky > stdout.txt 2> stderr.txt");
    EXPECT_EQ(contents("stdout.txt"), runs) << verb;
    EXPECT_FALSE(contents("stderr.txt").empty() && !verb.starts_with("record -o")) << verb;
  }
  ASSERT_EQ(cleave("record --schedule serial -o w.cleave -- ./flaky > /dev/null").status, 0);
  cleave("replay w.cleave > stdout.txt");
  EXPECT_EQ(contents("stdout.txt"), text);
}

TEST_F(Reports, TheProgramsOutputMayGoToAFile) {
  Ran refused = cleave("check --json - -- ./bank");
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.output.find("--program-output"), std::string::npos) << refused.output;
  cleave(
      "check --schedule serial --json - --program-output of_program.txt -- ./flaky > found.json 2> err.txt");
  EXPECT_EQ(contents("of_program.txt"), "output of the program\n");
  EXPECT_EQ(json("found.json")["command"], "check") << contents("found.json");
  cleave(
      "check --stats --schedule serial --program-output of_program.txt -- ./flaky > report.txt 2> err.txt");
  EXPECT_NE(contents("report.txt").find("units from"), std::string::npos) << contents("report.txt");
}

TEST_F(Reports, UnitsThatMatchNothingAreWrongUsage) {
  ASSERT_EQ(cleave("record --schedule serial -o u.cleave -- ./bank").status, 0);
  for (std::string verb :
       {"check --units functions:nosuch u.cleave", "predict --no-replay --units functions:nosuch u.cleave",
        "check --units functions:nosuch -- ./bank"}) {
    Ran ran = cleave(verb);
    EXPECT_EQ(ran.status, 2) << verb << "\n" << ran.output;
    EXPECT_NE(ran.output.find("functions:nosuch"), std::string::npos) << ran.output;
  }
}

TEST_F(Reports, OptionsThatAVerbWouldIgnoreAreRefused) {
  ASSERT_EQ(cleave("record --schedule serial -o i.cleave -- ./bank").status, 0);
  cleave("check i.cleave --json i.json");
  for (std::string line : {"report i.json --units locks", "report i.json --config x.toml",
                           "report i.json --jobs 2", "check i.cleave --jobs 2"}) {
    Ran ran = cleave(line);
    EXPECT_EQ(ran.status, 2) << line << "\n" << ran.output;
  }
}

TEST_F(Reports, SuppressionsThatMatchNothingAreTold) {
  ASSERT_EQ(cleave("record --schedule serial -o n.cleave -- ./bank").status, 0);
  std::ofstream(folder_ + "none.txt") << "no_such_variable\nCLV-00000000\nAccount::*\n";
  Ran ran = cleave("predict --no-replay n.cleave --suppress none.txt > /dev/null");
  EXPECT_NE(ran.output.find("none.txt: no finding matches `no_such_variable`"), std::string::npos)
      << ran.output;
  EXPECT_NE(ran.output.find("none.txt: no finding matches `CLV-00000000`"), std::string::npos);
  EXPECT_EQ(ran.output.find("`Account::*`"), std::string::npos) << ran.output;
}

// Files of other versions may have two findings with one id: each is shown.
TEST_F(Reports, ReportDropsNothing) {
  ASSERT_EQ(cleave("record --schedule serial -o d.cleave -- ./bank").status, 0);
  cleave("predict --no-replay --all d.cleave --quiet --json d.json > /dev/null");
  nlohmann::json findings = json("d.json");
  ASSERT_GE(findings["findings"].size(), 1u);
  nlohmann::json other = findings["findings"][0];
  for (nlohmann::json& access : other["accesses"]) access["line"] = access["line"].get<int>() + 100;
  findings["findings"].push_back(other);
  std::ofstream(folder_ + "twice.json") << findings.dump();
  Ran one = cleave("report twice.json --quiet --json all.json");
  std::set<std::string> ids;
  size_t shown = 0;
  const nlohmann::json all = json("all.json");
  for (const nlohmann::json& finding : all["findings"]) ids.insert(finding["id"]), ++shown;
  EXPECT_EQ(shown, ids.size());
  const auto kept = [](const nlohmann::json& list) {
    return std::count_if(list.begin(), list.end(),
                         [](const nlohmann::json& finding) { return finding["verdict"] != "infeasible"; });
  };
  EXPECT_EQ(static_cast<long>(shown), kept(findings["findings"])) << one.output;
  // The same file twice: each finding once, and a sentence.
  Ran both = cleave("report twice.json twice.json --json both.json");
  EXPECT_EQ(json("both.json")["findings"].size(), shown);
  EXPECT_NE(both.output.find("in several files"), std::string::npos) << both.output;
}

}  // namespace
