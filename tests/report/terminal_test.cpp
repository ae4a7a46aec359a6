#include "report/terminal.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "report/explain.h"
#include "report/golden.h"
#include "report/samples.h"
#include "report/text.h"
#include "report/value.h"

namespace cleave::report {
namespace {

std::optional<std::string> bank_source(std::string_view file, uint32_t line) {
  if (file != "bank.cpp") return std::nullopt;
  if (line == 12) return "\treturn balance;";
  if (line == 16) return "    balance = value;  // the caller holds the lock, or so it says";
  return std::nullopt;
}

TEST(Terminal, LooksLikeThis) {
  expect_golden("terminal-80.txt", to_terminal(sample_findings(), {.width = 80, .source = bank_source}));
  expect_golden("terminal-48.txt", to_terminal(sample_findings(), {.width = 48, .source = bank_source}));
  expect_golden("terminal-colour.txt", to_terminal(sample_findings(), {.colour = true, .width = 100}));
}

TEST(Terminal, TimelineAndSourceKeepToTheWidth) {
  Findings findings = sample_findings();
  findings.findings = {dirty_read()};
  findings.findings[0].variable = std::string(200, 'v');
  std::istringstream lines(to_terminal(findings, {.width = 60, .source = bank_source}));
  int timeline = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("...") == std::string::npos) continue;
    ++timeline;
    EXPECT_LE(width_of(line), 60u) << line;
  }
  EXPECT_EQ(timeline, 3);
}

TEST(Terminal, QuietLeavesOutTheCounts) {
  const std::string text = to_terminal(sample_findings(), {.counts = false});
  EXPECT_EQ(text.find("patterns"), std::string::npos);
  EXPECT_NE(text.find("CLV-3f9a12cc"), std::string::npos);
  EXPECT_EQ(to_terminal({}, {.counts = false}), "");
  EXPECT_EQ(to_terminal({}, {}), "Nothing found.\n");
}

TEST(Terminal, TheoryIsShownOnRequestOnly) {
  const std::string plain = to_terminal(sample_findings(), {.stats = false});
  const std::string verbose = to_terminal(sample_findings(), {.theory = true});
  for (const char* word : {"--WR", "cycle of 2 units", "confirmed RWW on"}) {
    EXPECT_EQ(plain.find(word), std::string::npos) << word;
    EXPECT_NE(verbose.find(word), std::string::npos) << word;
  }
  EXPECT_EQ(plain.find("patterns"), std::string::npos) << "counters are for --stats";
}

TEST(Terminal, TheUnitsOwnLinesComeFirst) {
  Finding finding = lost_update();
  finding.accesses[2].stack = {"Account::set bank.cpp:16", "withdraw bank.cpp:33", "client bank.cpp:44"};
  const std::string text = to_terminal({.findings = {finding}}, {});
  const size_t first = text.find("1  T1  bank.cpp:31  in withdraw"),
               second = text.find("3  T1  bank.cpp:33  in withdraw"),
               remote = text.find("2  T2  bank.cpp:16");
  ASSERT_NE(remote, std::string::npos) << text;
  EXPECT_LT(first, second) << text;
  EXPECT_LT(second, remote) << text;
  EXPECT_NE(text.find("from line 31 to line 33 of withdraw"), std::string::npos) << text;
}

TEST(Terminal, UnitsThatAreNotFunctionsAreShownWhereTheyWereCut) {
  Finding finding = lost_update();
  finding.unit = "section of lock";
  finding.accesses[2].stack = {"Account::set bank.cpp:16", "withdraw bank.cpp:33", "client bank.cpp:44"};
  const std::string text = to_terminal({.findings = {finding}}, {});
  EXPECT_NE(text.find("1  T1  bank.cpp:31  in withdraw"), std::string::npos) << text;
  EXPECT_NE(text.find("3  T1  bank.cpp:33  in withdraw"), std::string::npos) << text;
}

TEST(Terminal, AnAccessWithoutALineTakesThatOfItsCaller) {
  Finding finding = lost_update();
  finding.unit = "client";
  finding.accesses[1].line = 0;
  finding.accesses[1].stack = {"Account::set bank.cpp:0", "deposit bank.cpp:37"};
  const std::string text = to_terminal({.findings = {finding}}, {});
  EXPECT_NE(text.find("2  T2  bank.cpp:37  in deposit"), std::string::npos) << text;
}

TEST(Terminal, NamesCannotControlTheTerminal) {
  Finding finding = lost_update();
  finding.variable = "x\x1b[2Jy\n";
  finding.accesses[0].function = "f\x07";
  const std::string text = to_terminal({.findings = {finding}}, {});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  EXPECT_NE(text.find("x\\x1b[2Jy\\n"), std::string::npos);
}

TEST(Terminal, ReadsSourceFromDisk) {
  const std::string path = testing::TempDir() + "/source_line.c";
  std::ofstream(path) << "one\ntwo\n";
  SourceLine lines = source_lines_from_disk({.roots = {testing::TempDir()}});
  EXPECT_EQ(lines(path, 2), "two");
  EXPECT_EQ(lines(path, 3), std::nullopt);
  EXPECT_EQ(lines("/nowhere/at/all.c", 1), std::nullopt);
}

TEST(Explain, TheEnginesSentenceComesFirst) {
  Finding finding = lost_update();
  EXPECT_NE(why(finding).find("lost"), std::string::npos);
  finding.why = "Because.";
  EXPECT_EQ(why(finding), "Because.");
}

TEST(Explain, CallersAreTheUsersOwn) {
  AccessReport access;
  access.stack = {"Queue::push queue.h:9",
                  "std::for_each<int*> /usr/include/c++/12/bits/stl_algo.h:3820",
                  "fill queue.cpp:31",
                  "main::operator() queue.cpp:44",
                  "std::__invoke<int> /usr/include/c++/12/bits/invoke.h:60",
                  "boost_like::run /usr/include/pool.hpp:7"};
  EXPECT_EQ(callers_of(access),
            (std::vector<std::string>{"fill queue.cpp:31", "main::operator() queue.cpp:44"}));
}

TEST(Explain, ThePlaceIsWhereTheLibraryWasCalled) {
  AccessReport access;
  access.function = "Cache::get";
  access.file = "cache.cpp";
  access.line = 7;
  access.stack = {"std::map<int, std::pair<int, int>>::find /usr/include/c++/12/bits/stl_map.h:1218",
                  "Cache::get cache.cpp:7", "main cache.cpp:20"};
  EXPECT_EQ(inside(access), "std::map::find");
  EXPECT_EQ(callers_of(access), std::vector<std::string>{"main cache.cpp:20"});
  access.stack.erase(access.stack.begin());
  EXPECT_EQ(inside(access), "");
  EXPECT_EQ(callers_of(access), std::vector<std::string>{"main cache.cpp:20"});
}

TEST(Explain, BlanksInNamesOfFunctionsAndFilesDoNotMatter) {
  AccessReport access;
  access.function = "fill";
  access.file = "/my code/a.cpp";
  access.line = 4;
  access.stack = {
      "std::function<(lambda at /my code/a.cpp:3:7)>::operator() /usr/include/c++/12/bits/std_function.h:590",
      "fill /my code/a.cpp:4",
      "operator new /my code/a.cpp:5",
      "run<(lambda at /src/b.cpp:3:7)> b.cpp:6",
      "boost_like::run /usr/local/include/my pool.hpp:7",
      "kernel_like /usr/src/mine/k.c:8"};
  EXPECT_EQ(inside(access), "std::function::operator()");
  EXPECT_EQ(callers_of(access), (std::vector<std::string>{"operator new /my code/a.cpp:5",
                                                          "run<(lambda at /src/b.cpp:3:7)> b.cpp:6",
                                                          "kernel_like /usr/src/mine/k.c:8"}));
}

TEST(Explain, ReplayCommandCanBePasted) {
  Finding finding = lost_update();
  EXPECT_EQ(replay_command(finding), "cleave replay witness-3f9a12cc.json");
  finding.witness = "my dir/it's.json";
  EXPECT_EQ(replay_command(finding), "cleave replay 'my dir/it'\\''s.json'");
  finding.witness.clear();
  EXPECT_EQ(replay_command(finding), "");
}

TEST(Explain, AddressesAreHexadecimal) {
  EXPECT_EQ(value_for_people("140737085705568"), "0x7fffe8000d60");
  for (const char* plain : {"0", "20", "-1", "1000000000", "18446744073709551615", "0.5", "", "abc"})
    EXPECT_EQ(value_for_people(plain), plain);
}

TEST(Explain, ValuesAreReadAsTheirTypeSays) {
  EXPECT_EQ(value_for_people("18446744073709551615", "long"), "-1");
  EXPECT_EQ(value_for_people("4294967293", "const int"), "-3");
  EXPECT_EQ(value_for_people("65535", "std::int16_t"), "-1");
  EXPECT_EQ(value_for_people("4294967295 -> 0", "std::atomic<int>"), "-1 -> 0");
  EXPECT_EQ(value_for_people("4612811918334230528", "double"), "2.5");
  EXPECT_EQ(value_for_people("4611686018427387904", "volatile double"), "2.0");
  EXPECT_EQ(value_for_people("0", "double"), "0.0");
  EXPECT_EQ(value_for_people("3229614080", "float"), "-4.0");
  EXPECT_EQ(value_for_people("1", "bool"), "true");
  // What does not fit, or is of a type that says nothing, stays as it is.
  EXPECT_EQ(value_for_people("4294967296", "int"), "4294967296");
  EXPECT_EQ(value_for_people("7", "double"), "7");
  EXPECT_EQ(value_for_people("2", "bool"), "2");
  EXPECT_EQ(value_for_people("4294967295", "unsigned int"), "4294967295");
  EXPECT_EQ(value_for_people("140737085705568", "Node *"), "0x7fffe8000d60");
  EXPECT_EQ(value_for_people("abc", "int"), "abc");
}

TEST(Text, WidthIsCountedInCharacters) {
  EXPECT_EQ(width_of("größe"), 5u);
  EXPECT_EQ(fit("größe und mehr", 8), "größe...");
  EXPECT_EQ(pad("ä", 3), "ä  ");
  EXPECT_EQ(wrap("one two three", 2, 9), "  one two\n  three\n");
}

}  // namespace
}  // namespace cleave::report
