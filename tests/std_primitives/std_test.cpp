// A program that uses everything the C++ library has for threads, built with cleave-c++, recorded, and its
// exact events.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace {

using Words = std::vector<std::string>;

std::string run(const std::string& command, int* status) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer{};
  for (size_t got; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) text.append(buffer.data(), got);
  int ended = pclose(pipe);
  *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
  return text;
}

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cleave-std-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(root_); }
  std::string operator/(const std::string& name) const { return (root_ / name).string(); }

 private:
  std::filesystem::path root_;
};

// Synchronization of the main thread by unit, and of the other threads by thread.
struct Seen {
  std::map<std::string, Words> units, threads;
  std::string validation;
};

Seen record(const std::string& flags) {
  Folder folder;
  std::string bin = CLEAVE_BINARY_DIR "/bin/", program = folder / "program", trace = folder / "trace";
  int status = 0;
  std::string said =
      run(bin + "cleave-c++ -std=c++20 " + flags +
              " " CLEAVE_SOURCE_DIR "/tests/std_primitives/program.cpp -o " + program + " -pthread",
          &status);
  EXPECT_EQ(status, 0) << said;
  said = run(bin + "cleave record -o " + trace + " -- " + program, &status);
  EXPECT_EQ(status, 0) << said;
  Seen seen;
  seen.validation = run(bin + "cleave trace validate " + trace, &status);
  EXPECT_EQ(status, 0) << seen.validation;
  std::istringstream text(run(bin + "cleave trace export " + trace, &status));
  EXPECT_EQ(status, 0);
  const std::set<std::string> kept = {
      "fork", "join",   "acquire",   "release",    "acquire-shared", "release-shared", "wait",
      "wake", "signal", "broadcast", "once-begin", "once-end",       "once-seen",      "once-abort"};
  const std::set<std::string> atomics = {"latch", "semaphore", "number"};  // built on updates and futexes
  const std::set<std::string> families = {"mutex",
                                          "two",
                                          "unique",
                                          "recursive",
                                          "timed",
                                          "recursive_timed",
                                          "shared",
                                          "shared_timed",
                                          "wait_for",
                                          "wait_until",
                                          "notify",
                                          "latch",
                                          "barrier",
                                          "semaphore",
                                          "atomic_wait",
                                          "call_once",
                                          "broken_once",
                                          "guard",
                                          "joined",
                                          "jthread",
                                          "promise",
                                          "async",
                                          "detached",
                                          "any_wait",
                                          "any_notify",
                                          "refused",
                                          "shared_tried",
                                          "new_plain",
                                          "new_sized",
                                          "new_nothrow",
                                          "new_aligned",
                                          "new_aligned_sized",
                                          "new_aligned_nothrow",
                                          "new_objects"};
  std::string unit;
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string thread, verb, name;
    words >> thread >> verb >> name;
    if (thread == "main" && verb == "begin" && families.contains(name)) unit = name;
    // The unwinder's own, at every throw.
    if (thread == "main" && verb == "update" && atomics.contains(name)) seen.units[unit].push_back(verb);
    if (thread == "main" && unit.starts_with("new_") && (verb == "alloc" || verb == "free")) {
      std::string bytes;
      words >> bytes;
      seen.units[unit].push_back(verb == "alloc" ? verb + " " + bytes : verb);
    }
    if (!kept.contains(verb) || (verb == "once-seen" && name != "flag" && name != "broken")) continue;
    if (thread == "main")
      seen.units[unit].push_back(verb);
    else
      seen.threads[thread].push_back(verb);
  }
  return seen;
}

class StdPrimitives : public testing::TestWithParam<const char*> {};

TEST_P(StdPrimitives, ExactEvents) {
  Seen seen = record(GetParam());
  const std::map<std::string, Words> expected = {
      {"mutex", {"acquire", "release"}},
      {"two", {"acquire", "acquire", "release", "release"}},
      {"unique", {"acquire", "release", "acquire", "release"}},
      {"recursive", {"acquire", "release"}},
      {"timed", {"acquire", "release"}},
      {"recursive_timed", {"acquire", "release"}},
      {"shared", {"acquire-shared", "release-shared", "acquire", "release"}},
      {"shared_timed", {"acquire-shared", "release-shared", "acquire", "release"}},
      {"wait_for", {"acquire", "wait", "wake", "release"}},
      {"wait_until", {"acquire", "wait", "wake", "release"}},
      {"notify", {"signal", "broadcast"}},
      {"latch", {"update"}},
      {"barrier", {"fork", "join"}},
      {"semaphore", {"update", "update", "update"}},
      {"atomic_wait", {"update"}},
      {"call_once", {"once-begin", "once-end", "once-seen"}},
      {"broken_once", {"once-begin", "once-abort", "once-begin", "once-end"}},
      {"guard", {"once-begin", "once-abort", "once-begin", "once-end"}},
      {"any_wait",
       {"acquire-shared", "acquire", "release-shared", "wait", "wake", "release", "acquire-shared",
        "release-shared"}},
      {"any_notify", {"acquire", "signal", "release", "acquire", "broadcast", "release"}},
      {"refused", {"acquire", "fork", "join", "release"}},
      {"shared_tried", {"acquire-shared", "release-shared", "acquire", "release"}},
      {"new_plain", {"alloc 8", "free", "alloc 16", "free"}},
      {"new_sized", {"alloc 8", "free", "alloc 16", "free"}},
      {"new_nothrow", {"alloc 8", "free", "alloc 16", "free"}},
      {"new_aligned", {"alloc 64", "free", "alloc 128", "free"}},
      {"new_aligned_sized", {"alloc 64", "free", "alloc 128", "free"}},
      {"new_aligned_nothrow", {"alloc 64", "free", "alloc 128", "free"}},
      {"new_objects", {"alloc 64", "free", "alloc 128", "free"}},
      {"joined", {"fork", "join"}},
      {"jthread", {"fork", "join"}},
      {"detached", {"fork"}},
  };
  for (const auto& [name, words] : expected) EXPECT_EQ(seen.units[name], words) << name;
  EXPECT_EQ(seen.threads["T1"], Words{}) << "refused";
  EXPECT_EQ(seen.threads["T3"], (Words{"acquire", "release"})) << "joined";
  EXPECT_EQ(std::count(seen.units["async"].begin(), seen.units["async"].end(), "fork"), 1);
  EXPECT_EQ(std::count(seen.units["async"].begin(), seen.units["async"].end(), "join"), 1);
}

INSTANTIATE_TEST_SUITE_P(Levels, StdPrimitives, testing::Values("-O0", "-O2"),
                         [](const auto& level) { return std::string(level.param + 1); });

}  // namespace
