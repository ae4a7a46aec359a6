// `cleave explain` on programs that fail under a random schedule, as a user would call it.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace cleave {
namespace {

namespace fs = std::filesystem;

class Explain : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "cleave-explain-test-XXXXXX").string();
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

  void build(const std::string& source) {
    std::ofstream(folder_ + "/prog.cpp") << source;
    std::string output;
    ASSERT_EQ(run("cleave-c++ -std=c++20 -g -O1 -pthread prog.cpp -o prog", &output), 0) << output;
  }

  // The witness of the first run that fails.
  std::string failing_witness() {
    std::string output;
    run("cleave record --schedule random --runs 300 --first-failure -- ./prog", &output);
    for (const auto& entry : fs::directory_iterator(folder_))
      if (entry.path().string().ends_with(".witness.json")) return entry.path().filename().string();
    ADD_FAILURE() << "no run failed\n" << output;
    return "";
  }

  std::string folder_;
};

constexpr const char* kWithdrawals = R"(#include <mutex>
#include <thread>
class Account {
 public:
  int get() { std::lock_guard guard(mutex_); return balance_; }
  void sub(int amount) { std::lock_guard guard(mutex_); balance_ -= amount; }
 private:
  std::mutex mutex_;
  int balance_ = 100;
};
Account account;
int noise;
std::mutex noise_mutex;
void withdraw(int amount) {
  for (int i = 0; i < 20; ++i) { std::lock_guard guard(noise_mutex); ++noise; }
  if (account.get() < amount) return;
  account.sub(amount);
}
int main() {
  std::thread a(withdraw, 60), b(withdraw, 70);
  a.join();
  b.join();
  return account.get() < 0 ? 1 : 0;
}
)";

TEST_F(Explain, NamesTheFunctionThatWasSplitAndWhoCameBetween) {
  build(kWithdrawals);
  std::string witness = failing_witness(), output;
  EXPECT_EQ(run("cleave explain " + witness + " -o small.json", &output), 1) << output;
  EXPECT_NE(output.find("The failure (exit status 1) needs "), std::string::npos) << output;
  EXPECT_NE(output.find("is stopped in withdraw"), std::string::npos) << output;
  EXPECT_NE(output.find("What must not be split: withdraw, between prog.cpp:16, the call of Account::get and "
                        "prog.cpp:17, the call of Account::sub"),
            std::string::npos)
      << output;
  EXPECT_NE(output.find(" writes Account::balance_ at prog.cpp:6, in Account::sub"), std::string::npos)
      << output;

  // The witness that is left has the failure and little else.
  std::string replayed;
  EXPECT_EQ(run("cleave replay small.json", &replayed), 0) << replayed;
  EXPECT_NE(replayed.find("exit status 1"), std::string::npos) << replayed;
}

TEST_F(Explain, TheSameWitnessGivesTheSameAnswer) {
  build(kWithdrawals);
  std::string witness = failing_witness(), first, second;
  run("cleave explain " + witness, &first);
  run("cleave explain " + witness, &second);
  EXPECT_EQ(first, second);
}

TEST_F(Explain, AFailureOfEveryOrderNeedsNoSwitch) {
  build("#include <thread>\nint main() { std::thread a([] {}); a.join(); return 3; }\n");
  std::string witness = failing_witness(), output;
  EXPECT_EQ(run("cleave explain " + witness, &output), 1) << output;
  EXPECT_NE(output.find("needs no switch"), std::string::npos) << output;
}

TEST_F(Explain, ARunThatDoesNotFailIsRefused) {
  build("#include <thread>\nint main() { std::thread a([] {}); a.join(); }\n");
  std::string output;
  ASSERT_EQ(run("cleave record --schedule random -o ok.cleave -- ./prog", &output), 0) << output;
  EXPECT_EQ(run("cleave explain ok.cleave", &output), 2) << output;
  EXPECT_NE(output.find("does not fail"), std::string::npos) << output;
  EXPECT_EQ(run("cleave explain nosuch.json", &output), 2) << output;
}

TEST_F(Explain, DeadlocksAreExplained) {
  build(R"(#include <mutex>
#include <thread>
std::mutex a, b;
int main() {
  std::thread one([] { std::lock_guard x(a); std::lock_guard y(b); });
  std::thread two([] { std::lock_guard x(b); std::lock_guard y(a); });
  one.join();
  two.join();
}
)");
  std::string witness = failing_witness(), output;
  EXPECT_EQ(run("cleave explain " + witness, &output), 1) << output;
  EXPECT_NE(output.find("The failure (deadlock) needs"), std::string::npos) << output;
  EXPECT_NE(output.find(" is stopped after prog.cpp:"), std::string::npos) << output;
}

}  // namespace
}  // namespace cleave
