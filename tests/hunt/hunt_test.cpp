// `cleave hunt` as a user would call it: what it finds, that it is the same every time, and that it goes on.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "hunt/reads_from.h"
#include "hunt/state.h"

namespace cleave {
namespace {

namespace fs = std::filesystem;

class Hunt : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "cleave-hunt-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  int run(const std::string& line, std::string* output) {
    output->clear();
    std::string bin = std::string(CLEAVE_BINARY_DIR) + "/bin";
    FILE* pipe = popen(("cd " + folder_ + " && PATH=" + bin + ":$PATH " + line + " 2>&1").c_str(), "r");
    std::array<char, 4096> buffer;
    while (size_t got = fread(buffer.data(), 1, buffer.size(), pipe)) output->append(buffer.data(), got);
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  void build(const std::string& source, const std::string& flags = "") {
    std::ofstream(folder_ + "/prog.cpp") << source;
    std::string output;
    ASSERT_EQ(run("cleave-c++ -std=c++20 -g -O1 -pthread " + flags + " prog.cpp -o prog", &output), 0)
        << output;
  }

  std::string text_of(const std::string& name) {
    std::stringstream text;
    text << std::ifstream(folder_ + "/" + name).rdbuf();
    return text.str();
  }

  std::string folder_;
};

// The second withdrawal of figure 2 is refused in a serial run; the check and the act can be parted.
constexpr const char* kWithdrawals = R"(#include <mutex>
#include <thread>
class Account {
 public:
  int get() { std::lock_guard guard(mutex_); return balance_; }
  void sub(int amount) { std::lock_guard guard(mutex_); balance_ -= amount; }
 private:
  std::mutex mutex_;
  int balance_ = 30;
};
Account account;
void withdraw(int amount) {
#ifdef FIXED
  static std::mutex whole;
  std::lock_guard guard(whole);
#endif
  if (account.get() >= amount) account.sub(amount);
}
int main() {
  std::thread first(withdraw, 10), second(withdraw, 30);
  first.join();
  second.join();
  return account.get() < 0 ? 1 : 0;
}
)";

TEST_F(Hunt, FindsWhatASerialRunRefusesAndExplainsIt) {
  build(kWithdrawals);
  std::string output;
  EXPECT_EQ(run("cleave hunt --executions 40 -- ./prog", &output), 1) << output;
  EXPECT_NE(output.find("the program ended with exit status 1 in "), std::string::npos) << output;
  EXPECT_NE(output.find("What must not be split: withdraw"), std::string::npos) << output;
  // Its witness shows it again.
  const size_t at = output.find("cleave replay witness-");
  ASSERT_NE(at, std::string::npos) << output;
  const std::string replay = output.substr(at, output.find('\n', at) - at);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run(replay, &output), 0) << output;
    EXPECT_NE(output.find("exit status 1"), std::string::npos) << output;
  }
}

TEST_F(Hunt, FindsNothingInTheRepairedTwin) {
  build(kWithdrawals, "-DFIXED");
  std::string output;
  EXPECT_NE(run("cleave hunt --executions 20 --json out.json -- ./prog", &output), 1) << output;
  EXPECT_EQ(text_of("out.json").find("\"verdict\": \"confirmed\""), std::string::npos);
}

TEST_F(Hunt, IsTheSameWithTheSameSeed) {
  build(kWithdrawals);
  std::string output;
  auto without_times = [](std::string text) {
    const size_t at = text.find("\"seconds\"");
    return at == std::string::npos ? text : text.erase(at, text.find('\n', at) - at);
  };
  run("cleave hunt --executions 15 --seed 7 --quiet --json a.json -- ./prog", &output);
  run("cleave hunt --executions 15 --seed 7 --quiet --json b.json -- ./prog", &output);
  const std::string first = without_times(text_of("a.json"));
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(first, without_times(text_of("b.json")));
}

TEST_F(Hunt, GoesOnFromItsState) {
  build(kWithdrawals);
  std::string output;
  EXPECT_EQ(run("cleave hunt --executions 40 --quiet --state state -- ./prog", &output), 1) << output;
  Result<hunt::HuntState> before = hunt::state_from_json(text_of("state/hunt.json"), "state");
  ASSERT_TRUE(before);
  EXPECT_EQ(before.value().executions, 40u);
  EXPECT_EQ(run("cleave hunt --executions 4 --quiet --state state --json out.json -- ./prog", &output), 1);
  Result<hunt::HuntState> after = hunt::state_from_json(text_of("state/hunt.json"), "state");
  ASSERT_TRUE(after);
  EXPECT_EQ(after.value().executions, 44u);
  EXPECT_NE(text_of("out.json").find("failure"), std::string::npos);
  // The state of another program is refused.
  EXPECT_EQ(run("cleave hunt --executions 4 --state state -- ./prog 1", &output), 2);
  EXPECT_NE(output.find("another directory"), std::string::npos) << output;
}

// The candidate of another engine is what the first directed execution is for.
TEST_F(Hunt, ConfirmsGivenCandidates) {
  build(R"(#include <mutex>
#include <thread>
std::mutex m;
int counter;
int load() { std::lock_guard guard(m); return counter; }
void store(int value) { std::lock_guard guard(m); counter = value; }
void increment() { store(load() + 1); }
int main() {
  std::thread a(increment), b(increment);
  a.join();
  b.join();
  return counter == 2 ? 0 : 1;
}
)");
  std::string output;
  ASSERT_EQ(run("cleave record --schedule serial -o t.cleave -- ./prog", &output), 0) << output;
  run("cleave predict --stages patterns,order,locks --units functions:increment --json c.json t.cleave",
      &output);
  ASSERT_NE(text_of("c.json").find("\"kind\": \"triple\""), std::string::npos) << output;
  EXPECT_EQ(run("cleave hunt --units functions:increment --candidates c.json --executions 4 --json out.json "
                "-- ./prog",
                &output),
            1)
      << output;
  EXPECT_NE(text_of("out.json").find("\"verdict\": \"confirmed\""), std::string::npos);
}

TEST_F(Hunt, RunsInScratchCopies) {
  build(R"(#include <cstdio>
#include <thread>
int main() {
  std::thread([] {}).join();
  if (std::FILE* known = std::fopen("mark", "r")) return std::fclose(known), 1;
  std::fclose(std::fopen("mark", "w"));
  return 0;
}
)");
  std::string output;
  EXPECT_EQ(run("cleave hunt --executions 4 --scratch -- ./prog", &output), 0) << output;
  EXPECT_FALSE(fs::exists(folder_ + "/mark"));
  EXPECT_EQ(run("cleave hunt --executions 4 --no-explain -- ./prog", &output), 1) << output;
}

TEST_F(Hunt, SaysWhatIsWrongInOneSentence) {
  build("volatile unsigned long n;\nint main() { for (;;) n = n + 1; }\n");
  std::string output;
  EXPECT_EQ(run("cleave hunt --time-limit 1 -- ./prog", &output), 2);
  EXPECT_NE(output.find("did not end within 1 s"), std::string::npos) << output;
  EXPECT_EQ(run("cleave hunt", &output), 2);
  EXPECT_NE(output.find("no program was given"), std::string::npos) << output;
  EXPECT_EQ(run("cleave hunt -- /bin/true", &output), 2);
  EXPECT_NE(output.find("cleave-c++"), std::string::npos) << output;
  EXPECT_EQ(run("cleave hunt --budget soon -- ./prog", &output), 2);
  EXPECT_NE(output.find("is not a duration"), std::string::npos) << output;
  EXPECT_EQ(run("cleave hunt --candidates absent.json -- ./prog", &output), 2);
}

TEST(ReadsFrom, AsksForWhatNoRunHad) {
  TraceBuilder builder;
  SiteInfo write_place, read_place;
  write_place.file = read_place.file = "a.cpp";
  write_place.line = 1;
  read_place.line = 2;
  SiteId write_site = builder.add_site(write_place), read_site = builder.add_site(read_place);
  auto add = [&](const char* thread, EventKind kind, SiteId site) {
    Event event{.kind = kind, .thread = builder.thread(thread)};
    event.site = site;
    event.object = raw(builder.variable("x"));
    builder.add(event);
  };
  add("T1", EventKind::Write, write_site);
  add("T2", EventKind::Read, read_site);
  const Trace trace = std::move(builder).build();
  hunt::ReadsFrom reads_from;
  Random random(1);
  EXPECT_TRUE(reads_from.sample(random).empty());
  EXPECT_EQ(reads_from.add(trace), 1u);
  EXPECT_EQ(reads_from.add(trace), 0u);
  // The read has seen the write: a sample asks for the read before it, or not from it.
  bool other = false;
  for (int i = 0; i < 20; ++i)
    for (const Constraint& constraint : reads_from.sample(random))
      other = other || !constraint.after || constraint.negative;
  EXPECT_TRUE(other);
}

TEST(HuntState, ComesBackEqualAndRefusesOtherText) {
  hunt::HuntState state;
  state.program = {"./a", "1"};
  state.executions = 3;
  state.targets["RWW | a | b | c"] = {2, true, "stuck"};
  Result<hunt::HuntState> back = hunt::state_from_json(to_json(state), "x");
  ASSERT_TRUE(back);
  EXPECT_EQ(back.value(), state);
  EXPECT_FALSE(hunt::state_from_json("{}", "x"));
  EXPECT_FALSE(hunt::state_from_json("", "x"));
}

}  // namespace
}  // namespace cleave
