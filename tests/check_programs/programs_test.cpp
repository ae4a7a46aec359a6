// Programs whose interleaving is forced, built by cleave-c++, recorded and checked: the cycles that come out,
// exactly.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "report/json.h"

namespace cleave {
namespace {

const std::string kBin = CLEAVE_BINARY_DIR "/bin/";
const std::string kSource = CLEAVE_SOURCE_DIR "/tests/check_programs/source/";
const std::string kInclude = "-I" CLEAVE_SOURCE_DIR "/include";

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
  static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  // "set: unit unit" of every finding.
  std::vector<std::string> cycles(const std::string& json) {
    Result<Findings> findings = report::from_json(text_of(json), json);
    EXPECT_TRUE(findings.ok()) << (findings.ok() ? "" : findings.error().sentence());
    std::vector<std::string> lines;
    if (!findings) return lines;
    for (const Finding& finding : findings.value().findings) {
      if (finding.kind == FindingKind::Failure) continue;
      std::string line = finding.set + ":";
      for (const UnitReport& unit : finding.units) line += " " + unit.name;
      lines.push_back(line);
      EXPECT_EQ(finding.verdict, Verdict::Witnessed);
    }
    return lines;
  }
  std::vector<std::string> check(const std::string& source, const std::string& flags,
                                 const std::string& options = "", int worst = 0) {
    std::string program = build(source, flags);
    std::string trace = directory_ / "trace", json = directory_ / "findings.json";
    run(fmt::format("{}cleave record -o {} -- {}", kBin, trace, program), worst);
    run(fmt::format("{}cleave check --quiet {} --json {} {} > /dev/null", kBin, options, json, trace), 1);
    return cycles(json);
  }
  std::vector<std::string> check_live(const std::string& source, const std::string& flags) {
    return follow(build(source, flags), "");
  }
  std::vector<std::string> follow(const std::string& program, const std::string& options) {
    std::string json = directory_ / "live.json";
    run(fmt::format("{}cleave check --quiet {} --json {} -- {} > /dev/null", kBin, options, json, program),
        1);
    return cycles(json);
  }
  // A cleave.toml with that in it, as an option.
  std::string config(const std::string& text) {
    std::string path = directory_ / "said.toml";
    std::ofstream(path) << text;
    return "--config " + path;
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

// Behind a plain pointer that nobody else follows it is the object's own (the paper's owned).
TEST_F(Programs, WhatAnObjectPointsTo) {
  for (const char* how :
       {"", "-DGETTER", "-DWALK", "-DCHAIN", "-DSMART", "-O0", "-O2", "-O2 -DGETTER", "-O2 -DWALK"}) {
    EXPECT_EQ(check("pointed.cpp", how), Lines{"Account: Account::put Account::take"}) << how;
    EXPECT_EQ(check("pointed.cpp", std::string(how) + " -DREPAIRED"), Lines{}) << how;
  }
  EXPECT_EQ(check_live("pointed.cpp", ""), Lines{"Account: Account::put Account::take"});
}

TEST_F(Programs, WhatAStructOfCPointsTo) {
  for (const char* how : {"", "-DARRAY", "-O0", "-O2"}) {
    EXPECT_EQ(check("pointed.c", how), Lines{"account: put take"}) << how;
    EXPECT_EQ(check("pointed.c", std::string(how) + " -DREPAIRED"), Lines{}) << how;
  }
}

// Two users of a service, one beside main, a parent that its child points to, nodes that go from list to
// list.
TEST_F(Programs, WhatSeveralPointToIsNobodys) {
  for (int which = 1; which <= 5; ++which) {
    const std::string service = fmt::format("-DSERVICE={}", which);
    EXPECT_EQ(check("pointed_shared.cpp", service), Lines{}) << which;
    EXPECT_EQ(check("pointed_shared.cpp", service + " -O0"), Lines{}) << which;
  }
}

TEST_F(Programs, StructsOfC) {
  EXPECT_EQ(check("c_struct.c", ""), Lines{"account: total transfer"});
  EXPECT_EQ(check("c_struct.c", "-DREPAIRED"), Lines{});
}

// Where a method is inlined the object is a constant.
TEST_F(Programs, GlobalObjectsAtEveryLevelOfOptimisation) {
  for (const char* level : {"-O0", "-O2", "-O3"}) {
    EXPECT_EQ(check("two_fields.cpp", level), Lines{"Range: Range::set Range::valid"}) << level;
    EXPECT_EQ(check("c_struct.c", level), Lines{"account: total transfer"}) << level;
    EXPECT_EQ(check("c_struct.c", std::string(level) + " -DREPAIRED"), Lines{}) << level;
  }
}

TEST_F(Programs, StaticsOfAFile) {
  EXPECT_EQ(check("statics.c", "").size(), 1u);
  EXPECT_EQ(check("statics.c", "-DREPAIRED"), Lines{});
}

TEST_F(Programs, PublicFunctionsOfAFileAreUnitsOnItsStatics) {
  for (const char* level : {"-O0", "-O1", "-O2"}) {
    EXPECT_EQ(check("module.c", level), Lines{"module.c: add clear"}) << level;
    EXPECT_EQ(check("module.c", std::string(level) + " -DREPAIRED"), Lines{}) << level;
  }
}

TEST_F(Programs, TheInsidesOfFutures) {
  for (const char* level : {"-O0", "-O2"}) EXPECT_EQ(check("tasks.cpp", level), Lines{}) << level;
}

TEST_F(Programs, WhatWorkersDoInCorrectPrograms) {
  for (const char* what : {"-DRING", "-DHAND_OVER", "-DLOGGER", "-DBARRIER", "-DSTD_BARRIER"}) {
    for (const char* level : {"-O0 ", "-O1 ", "-O2 "})
      EXPECT_EQ(check("workers.cpp", level + std::string(what)), Lines{}) << level << what;
  }
  EXPECT_EQ(check("workers.cpp", "-DHAND_OVER -DWRONG").size(), 1u);
  EXPECT_EQ(check("workers.cpp", "-DLOGGER -DWRONG"), Lines{"Logger: Logger::log put (critical section)"});
}

TEST_F(Programs, InheritedFields) {
  EXPECT_EQ(check("inheritance.cpp", ""), Lines{"Statistics: Statistics::add Statistics::average"});
  EXPECT_EQ(check("inheritance.cpp", "-DREPAIRED"), Lines{});
}

// Whoever calls first: the object, its set and the finding are called after the class that was made.
TEST_F(Programs, AClassWithoutFieldsOfItsOwn) {
  EXPECT_EQ(check("no_own_fields.cpp", ""), Lines{"Plain: Plain::set Range::valid"});
  EXPECT_EQ(check_live("no_own_fields.cpp", ""), Lines{"Plain: Plain::set Range::valid"});
}

TEST_F(Programs, OwnedMember) {
  EXPECT_EQ(check("owned.cpp", ""), Lines{"Ledger: Ledger::audit Ledger::deposit"});
  EXPECT_EQ(check("owned.cpp", "-DREPAIRED"), Lines{});
  EXPECT_EQ(check("owned.cpp", kInclude + " -DRAW -DHELD="), Lines{});
  EXPECT_EQ(check("owned.cpp", kInclude + " -DRAW -DHELD=CLEAVE_OWNED"),
            Lines{"Ledger: Ledger::audit Ledger::deposit"});
}

// cleave.toml says what the annotation says, and nothing has to be built anew.
TEST_F(Programs, OwnedFieldsByConfig) {
  EXPECT_EQ(check("owned.cpp",
                  "-DRAW " + kInclude + " -DHELD=", config("[fields]\nowned = [\"Ledger::journal_\"]\n")),
            Lines{"Ledger: Ledger::audit Ledger::deposit"});
  EXPECT_EQ(check("owned.cpp", "-DRAW -DREPAIRED " + kInclude + " -DHELD=",
                  config("[fields]\nowned = [\"Ledger::journal_\"]\n")),
            Lines{});
  const std::string both = "[fields]\nowned = [\"ledger::entries\", \"entry::next\"]\n";
  EXPECT_EQ(check("owned.c", kInclude + " -DHELD="), Lines{});
  EXPECT_EQ(check("owned.c", kInclude + " -DHELD=", config(both)), Lines{"ledger: audit deposit"});
  EXPECT_EQ(check("owned.c", kInclude + " -DHELD=CLEAVE_OWNED"), Lines{"ledger: audit deposit"});
  EXPECT_EQ(check("owned.c", kInclude + " -DHELD= -DREPAIRED", config(both)), Lines{});
  // The head alone does not own what comes behind it.
  EXPECT_EQ(check("owned.c", kInclude + " -DHELD=", config("[fields]\nowned = [\"ledger::entries\"]\n")),
            Lines{});
}

TEST_F(Programs, UnitForByConfig) {
  const std::string units = "--units annotated,methods ", order = "[units]\nunitfor = [\"order(Stock)\"]\n";
  EXPECT_EQ(check("unitfor.cpp", kInclude + " -DFOR=", units), Lines{});
  EXPECT_EQ(check("unitfor.cpp", kInclude + " -DFOR=CLEAVE_UNITFOR", units),
            Lines{"Stock: Stock::take order"});
  EXPECT_EQ(check("unitfor.cpp", kInclude + " -DFOR=", units + config(order)),
            Lines{"Stock: Stock::take order"});
  EXPECT_EQ(
      check("unitfor.cpp", kInclude + " -DFOR=", units + config("[units]\nunitfor = [\"order(Shelf)\"]\n")),
      Lines{});
  EXPECT_EQ(check("unitfor.cpp", kInclude + " -DFOR= -DREPAIRED", units + config(order)), Lines{});
}

TEST_F(Programs, AnnotationsOverrideTheHeuristics) {
  EXPECT_EQ(check("annotated.cpp", kInclude), Lines{});
  EXPECT_EQ(check("annotated.cpp", kInclude + " -DMARK_FUNCTION"),
            (Lines{"Account: Account::total transfer", "steps_done: done transfer"}));
  EXPECT_EQ(check("annotated.cpp", kInclude + " -DMARK_BLOCK"),
            (Lines{"Account: Account::total payment", "steps_done: done payment"}));
  EXPECT_EQ(check("annotated.cpp", kInclude + " -DBY_METHOD"),
            Lines{"Account: Account::move Account::total"});
  EXPECT_EQ(check("annotated.cpp", kInclude + " -DBY_METHOD -DMARK_METHOD"), Lines{});
  std::string config = directory_ / "cleave.toml";
  std::ofstream(config) << "[units]\natomic = [\"transfer\"]\n";
  EXPECT_EQ(check("annotated.cpp", kInclude, "--units methods,locks --config " + config),
            (Lines{"Account: Account::total transfer", "steps_done: done transfer"}));
}

TEST_F(Programs, WhoLoopsOverAContainerIsAUnitForIt) {
  for (const char* container : {"1", "2", "3"}) {
    std::string flags = std::string("-DCONTAINER=") + container;
    Lines found = check("iterate.cpp", flags);
    ASSERT_EQ(found.size(), 1u) << container;
    EXPECT_TRUE(found.front().starts_with("items: ") && found.front().ends_with(" total")) << found.front();
    EXPECT_EQ(check("iterate.cpp", flags + " -DREPAIRED"), Lines{}) << container;
  }
}

// The same violation as other checkers take it: RAPID's lines, and all memory as one set.
TEST_F(Programs, RapidTracesAsOneSet) {
  std::string trace = directory_ / "trace.std", json = directory_ / "findings.json";
  auto judged = [&](const std::string& text) {
    std::ofstream(trace) << text;
    run(fmt::format("{}cleave check --quiet --sets one --json {} {} > /dev/null", kBin, json, trace), 1);
    return cycles(json).size();
  };
  EXPECT_EQ(
      judged("T1|begin|1\nT1|w(x)|2\nT2|begin|3\nT2|r(x)|4\nT2|w(y)|5\nT2|end|6\nT1|r(y)|7\nT1|end|8\n"), 1u);
  EXPECT_EQ(judged("T1|begin|1\nT1|w(x)|2\nT2|begin|3\nT2|r(x)|4\nT2|end|6\nT1|r(y)|7\nT1|end|8\n"), 0u);
  // Only a lock orders the two: T1 gives it back and takes it again after T2.
  EXPECT_EQ(judged("T1|begin|1\nT1|acq(m)|2\nT1|rel(m)|3\nT2|begin|4\nT2|acq(m)|5\nT2|rel(m)|6\nT2|end|7\nT1|"
                   "acq(m)|8\n"
                   "T1|rel(m)|9\nT1|end|10\n"),
            1u);
}

TEST_F(Programs, ElementsBelongToWhoHoldsTheContainer) {
  for (const char* container : {"1", "2", "3", "4", "5", "6"}) {
    std::string flags = std::string("-DCONTAINER=") + container;
    EXPECT_EQ(check("containers.cpp", flags), Lines{"Store: Store::increment Store::set"}) << container;
    EXPECT_EQ(check("containers.cpp", flags + " -DREPAIRED"), Lines{}) << container;
  }
}

TEST_F(Programs, LinksBetweenNodesBelongToWhoHoldsTheContainer) {
  for (const char* container : {"1", "2", "3", "4"}) {
    std::string flags = std::string("-DCONTAINER=") + container;
    EXPECT_EQ(check("links.cpp", flags), Lines{"Store: Store::add Store::add_once"}) << container;
    EXPECT_EQ(check("links.cpp", flags + " -DREPAIRED"), Lines{}) << container;
  }
}

TEST_F(Programs, ElementsThatChangeHandsBelongToNeitherHolder) {
  for (const char* move : {"1", "2", "3", "4", "5", "6", "7"}) {
    std::string flags = std::string("-DMOVE=") + move;
    Lines found = check("moves.cpp", flags);
    ASSERT_EQ(found.size(), 1u) << move;
    EXPECT_FALSE(found.front().starts_with("Front:") || found.front().starts_with("Back:"))
        << move << ": " << found.front();
    EXPECT_TRUE(found.front().ends_with(": Back::increment Back::raise")) << move << ": " << found.front();
  }
}

// A local container is nobody's object: what comes from there comes to its first holder.
TEST_F(Programs, ElementsFromALocalContainerBelongToWhoTakesThem) {
  for (const char* move : {"1", "2", "3", "4", "6"}) {
    std::string flags = std::string("-DFROM_LOCAL -DMOVE=") + move;
    EXPECT_EQ(check("moves.cpp", flags), Lines{"Back: Back::increment Back::raise"}) << move;
  }
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

TEST_F(Programs, AccessorsThatLockAreAccessors) {
  for (const char* units : {"--units methods", "--units methods,locks", ""}) {
    EXPECT_EQ(check("accessors.cpp", "-DLOCKED", units), Lines{"Cell: increment increment"}) << units;
    EXPECT_EQ(check("accessors.cpp", "-DLOCKED -DREPAIRED", units), Lines{}) << units;
    EXPECT_EQ(check("accessors.cpp", "-DLOCKED -DPOLLING", units), Lines{}) << units;
  }
}

TEST_F(Programs, WhoReadsDecidesAndWritesIsAUnit) {
  EXPECT_EQ(check("decide.c", "-DSTRUCT"), Lines{"account: withdraw withdraw"});
  EXPECT_EQ(check("decide.c", "-DSTRUCT -DREPAIRED"), Lines{});
  EXPECT_EQ(check("decide.c", "").size(), 1u);  // on the file's statics
  EXPECT_EQ(check("decide.c", "-DREPAIRED"), Lines{});
}

TEST_F(Programs, FriendsThatExposeAnObjectMakeTheirUserAUnit) {
  EXPECT_EQ(check("friend.cpp", ""), Lines{"Account: Account::close report"});
  EXPECT_EQ(check("friend.cpp", "-DREPAIRED"), Lines{});
  EXPECT_EQ(check("friend.cpp", "-DLOOP"), Lines{});
}

TEST_F(Programs, AWalkOverNodesAndASectionThatChangesThemAll) {
  const Lines all{"Item: Chain::double_all total"};  // it has the nodes until the walk gets there
  EXPECT_EQ(check("walk.cpp", ""), all);
  EXPECT_EQ(check("walk.cpp", "-DREPAIRED"), Lines{});
  EXPECT_EQ(check("walk.cpp", "-DAPART"), Lines{});
  EXPECT_EQ(check("walk.cpp", "-DCURSOR"), all);
  EXPECT_EQ(check("walk.cpp", "-DCURSOR -DREPAIRED"), Lines{});
  EXPECT_EQ(check("walk.cpp", "-DFREE"), Lines{"Item: double_all (critical section) total"});
  EXPECT_EQ(check("walk.cpp", "-DFREE -DREPAIRED"), Lines{});
}

TEST_F(Programs, SetsOfOneObject) {
  EXPECT_EQ(check("sets.cpp", kInclude, "--units methods"), Lines{});
  EXPECT_EQ(check("sets.cpp", kInclude + " -DMERGED", "--units methods"),
            Lines{"Account: Account::deposit Account::look"});
}

TEST_F(Programs, MembersByValueAndObjectsInAVector) {
  EXPECT_EQ(check("members.cpp", ""), Lines{"Gauge: Gauge::set Gauge::width"});
  EXPECT_EQ(check("members.cpp", "-DREPAIRED"), Lines{});
  EXPECT_EQ(check("members.cpp", "-DOTHER"), Lines{});
}

TEST_F(Programs, StaticsOfAClass) {
  EXPECT_EQ(check("class_statics.cpp", ""), Lines{"Registry: Registry::consistent Registry::enter"});
  EXPECT_EQ(check("class_statics.cpp", "-DREPAIRED"), Lines{});
}

TEST_F(Programs, NestedClassesMakeTheirUserAUnit) {
  for (const char* units : {"--units methods", "--units methods,locks"})
    EXPECT_EQ(check("cursor.cpp", kInclude, units), Lines{"List: List::clear first_of"}) << units;
}

TEST_F(Programs, UnitForAParameter) {
  EXPECT_EQ(check("cursor.cpp", kInclude + " -DUNITFOR", "--units annotated,methods"),
            Lines{"List: List::clear first_of"});
}

TEST_F(Programs, ConfigOverridesHeuristics) {
  std::string config = directory_ / "cleave.toml";
  std::ofstream(config) << "[units]\nnot_atomic = [\"Range::set\"]\n";
  EXPECT_EQ(check("two_fields.cpp", "", "--units methods --config " + config), Lines{});
  std::ofstream(config) << "[sets]\n\"Range.lo\" = [\"Range::lo_\"]\n\"Range.hi\" = [\"Range::hi_\"]\n";
  EXPECT_EQ(check("two_fields.cpp", "", "--config " + config), Lines{});
}

TEST_F(Programs, ATruncatedTraceIsJudgedAsFarAsItGoes) {
  std::string program = build("two_fields.cpp", "");
  std::string trace = directory_ / "trace", json = directory_ / "findings.json";
  run(fmt::format("{}cleave record -o {} -- {}", kBin, trace, program));
  std::filesystem::resize_file(trace, std::filesystem::file_size(trace) - 40);  // the mark of the end is cut
  const std::string out = directory_ / "out";
  run(fmt::format("{}cleave check --quiet --json {} {} > {} 2> {}.err", kBin, json, trace, out, out), 1);
  EXPECT_EQ(cycles(json), Lines{"Range: Range::set Range::valid"});
  const std::string told = text_of(out + ".err");
  EXPECT_NE(told.find(trace + ": the trace ends early"), std::string::npos) << told;
  EXPECT_NE(told.find("holds for its first"), std::string::npos) << told;
  EXPECT_NE(text_of(json).find("the trace ends early"), std::string::npos) << text_of(json);
}

TEST_F(Programs, ThePictureHasTheCycle) {
  std::string dot = directory_ / "cycles.dot";
  check("two_fields.cpp", "", "--dot " + dot);
  std::string text = text_of(dot);
  EXPECT_TRUE(text.starts_with("digraph conflicts {")) << text;
  EXPECT_NE(text.find("Range::set"), std::string::npos);
  EXPECT_NE(text.find("c0u0 -> c0u1 [label=\"W"), std::string::npos) << text;
}

// Runs on after its cycle, for ever.
TEST_F(Programs, StopEndsTheProgramAtTheFirstCycle) {
  std::string program = build("two_fields.cpp", "-DENDLESS");
  std::string json = directory_ / "live.json", out = directory_ / "out";
  run(fmt::format("timeout 60 {}cleave check --stop --json {} -- {} > {} 2> {}.err", kBin, json, program, out,
                  out),
      1);
  EXPECT_EQ(cycles(json), Lines{"Range: Range::set Range::valid"});
  const std::string told = text_of(out + ".err");  // standard output is the program's
  EXPECT_EQ(text_of(out), "");
  EXPECT_NE(told.find("found"), std::string::npos) << told;
  EXPECT_NE(told.find("the program ended with: signal 9"), std::string::npos) << told;
}

TEST_F(Programs, StopUnderTheDebugger) {
  std::string program = build("two_fields.cpp", "-DENDLESS");
  std::string json = directory_ / "live.json", out = directory_ / "out";
  run(fmt::format("echo 'info threads' | timeout 120 {}cleave check --stop --gdb --json {} -- {} > {} 2>&1",
                  kBin, json, program, out),
      1);
  EXPECT_EQ(cycles(json), Lines{"Range: Range::set Range::valid"});
  EXPECT_NE(text_of(out).find("Thread 0x"), std::string::npos) << text_of(out);
}

// --lag 0 holds the program as soon as there is anything to read, again and again.
TEST_F(Programs, AProgramThatIsHeldBackLosesNothing) {
  std::string program = build("two_fields.cpp", "-DBUSY");
  std::string trace = directory_ / "trace", live = directory_ / "live.json",
              after = directory_ / "after.json";
  std::string out = directory_ / "out";
  run(fmt::format("{}cleave check --lag 0 -o {} --json {} -- {} > {} 2>&1", kBin, trace, live, program, out),
      1);
  EXPECT_NE(text_of(out).find("held back"), std::string::npos) << text_of(out);
  EXPECT_NE(text_of(out).find("exit status 0"), std::string::npos) << text_of(out);
  run(fmt::format("{}cleave check --quiet --json {} {} > /dev/null", kBin, after, trace), 1);
  EXPECT_EQ(cycles(live), Lines{"Range: Range::set Range::valid"});
  EXPECT_EQ(cycles(after), cycles(live));
  Result<Findings> first = report::from_json(text_of(live), live),
                   second = report::from_json(text_of(after), after);
  ASSERT_TRUE(first.ok() && second.ok());
  for (const char* count : {"events", "units", "cycles"})
    EXPECT_EQ(first.value().stages[0].counts.at(count), second.value().stages[0].counts.at(count)) << count;
}

TEST_F(Programs, LiveFindsTheSame) {
  EXPECT_EQ(check_live("two_fields.cpp", ""), Lines{"Range: Range::set Range::valid"});
  EXPECT_EQ(check_live("owned.cpp", ""), Lines{"Ledger: Ledger::audit Ledger::deposit"});
  EXPECT_EQ(check_live("two_fields.cpp", "-DREPAIRED"), Lines{});
}

TEST_F(Programs, LiveUnderEverySchedule) {
  std::string repaired = directory_ / "repaired";
  std::filesystem::rename(build("two_fields.cpp", "-DREPAIRED"), repaired);
  std::string program = build("two_fields.cpp", "");
  for (const char* schedule : {"free", "serial", "random", "pct", "noise"}) {
    std::string options = fmt::format("--schedule {} --seed 7", schedule);
    EXPECT_EQ(follow(program, options), Lines{"Range: Range::set Range::valid"}) << schedule;
    EXPECT_EQ(follow(repaired, options), Lines{}) << schedule;
  }
}

// A trace that nobody keeps has its records as they are, one that is kept has them coded: it is the same run.
TEST_F(Programs, LiveFindsTheSameWhetherTheTraceIsKeptOrNot) {
  for (const char* source : {"two_fields.cpp", "owned.cpp"}) {
    std::string program = build(source, ""), json = directory_ / "live.json";
    auto counted = [&](const std::string& options) {
      Lines lines = follow(program, "--schedule random --seed 11 " + options);
      std::string text = text_of(json);
      Findings findings = report::from_json(text, json).value();
      for (const char* count : {"events", "units", "cycles", "most_live"})
        lines.push_back(fmt::format("{} {}", count, findings.stages[0].counts.at(count)));
      for (const Finding& finding : findings.findings) lines.push_back(finding.id);
      return lines;
    };
    EXPECT_EQ(counted(""), counted("-o " + (directory_ / "kept.cleave").string())) << source;
  }
}

TEST_F(Programs, RoundsOfALoopThatMayWaitAreNotOneUnit) {
  for (const char* wait : {"-DWAIT=1", "-DWAIT=2"}) {
    std::string program = build("event_loop.cpp", wait);
    EXPECT_EQ(follow(program, "--schedule random --runs 25"), Lines{}) << wait;
    EXPECT_NE(follow(program, "--schedule random --runs 25 --no-wait-split"), Lines{}) << wait;
  }
}

// Correct programs that are cycles by the heuristics: the hint has the lines that say so, and they work.
TEST_F(Programs, WhatTheHintSaysIsTakenAsAnAnswer) {
  for (const char* source : {"two_locks.cpp", "two_sections.cpp"}) {
    std::string program = build(source, ""), json = directory_ / "live.json",
                config = directory_ / "hinted.toml";
    run(fmt::format("{}cleave check --quiet --json {} -- {} > /dev/null", kBin, json, program), 1);
    Result<Findings> findings = report::from_json(text_of(json), json);
    ASSERT_TRUE(findings.ok() && findings.value().findings.size() == 1) << source;
    const std::vector<std::string>& hints = findings.value().findings[0].hints;
    ASSERT_EQ(hints.size(), std::string(source) == "two_locks.cpp" ? 2u : 1u) << source;
    for (const std::string& hint : hints) {
      std::ofstream(config) << hint.substr(hint.find('\n') + 1) << "\n";
      EXPECT_EQ(follow(program, "--config " + config), Lines{}) << source << ": " << hint;
    }
  }
}

// Hints about locks need a second look at the trace. A recorded one gets it too; where it would take too long
// that is said.
TEST_F(Programs, HintsAboutLocksAreThereOrMissed) {
  std::string program = build("two_locks.cpp", ""), json = directory_ / "hints.json",
              trace = directory_ / "hints.cleave";
  auto judged = [&](const std::string& what) {
    run(fmt::format("{}cleave check --quiet --json {} {} > /dev/null", kBin, json, what), 1);
    return report::from_json(text_of(json), json).value();
  };
  run(fmt::format("{}cleave record --quiet -o {} -- {}", kBin, trace, program), 0);
  Findings live = judged("-- " + program), recorded = judged(trace),
           large = judged("-- " + program + " 2000000");
  ASSERT_EQ(live.findings.size(), 1u);
  EXPECT_EQ(live.findings[0].hints.size(), 2u);
  EXPECT_EQ(recorded.findings[0].hints, live.findings[0].hints);
  EXPECT_FALSE(live.facts.contains("about the trace"));
  EXPECT_EQ(large.findings[0].hints.size(), 1u);
  ASSERT_TRUE(large.facts.contains("about the trace"));
  EXPECT_NE(
      large.facts["about the trace"].find("there are no hints about locks: for them a trace of up to 128 MB"),
      std::string::npos)
      << large.facts["about the trace"];
}

// A local variable that only its own thread has seen orders nothing, though the next call has it at the same
// address.
TEST_F(Programs, LocalVariablesOrderNobody) {
  EXPECT_EQ(check("locals.cpp", ""), Lines{});
  EXPECT_EQ(check("locals.cpp", "-DSHARED").size(), 1u);
}

TEST_F(Programs, ManyRunsTellEachCycleOnce) {
  std::string program = build("two_fields.cpp", ""), out = directory_ / "out",
              json = directory_ / "live.json";
  run(fmt::format(
          "{}cleave check --schedule random --seed 5 --runs 3 --program-output /dev/null --json {} -- {} "
          "> {} 2> {}.err",
          kBin, json, program, out, out),
      1);
  const std::string told = text_of(out + ".err");
  EXPECT_TRUE(told.starts_with("cleave: run 1 (--seed 5): found CLV-")) << told;
  EXPECT_NE(told.find(": Range::set "), std::string::npos) << told;
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << told;
  EXPECT_NE(text_of(out).find("note: first seen in run 1 (--seed 5), in 3 of 3 runs"), std::string::npos)
      << text_of(out);
  Result<Findings> findings = report::from_json(text_of(json), json);
  ASSERT_TRUE(findings.ok() && findings.value().findings.size() == 1);
  EXPECT_EQ(findings.value().findings[0].occurrences, 3u);
}

TEST_F(Programs, TheCountOfASharedPointerIsNobodysUnit) {
  std::string program = build("snapshot.cpp", "");
  EXPECT_EQ(follow(program, "--schedule random --runs 25"), Lines{});
  EXPECT_EQ(follow(program, "--schedule random --runs 25 --units locks"), Lines{});
}

// Giving memory back is a write of all that lies in it.
TEST_F(Programs, WhatIsGivenBackWhileAUnitUsesIt) {
  for (const char* level : {"-O0", "-O1", "-O2"}) {
    for (int way = 1; way <= 5; ++way) {
      const std::string flags = fmt::format("-DWAY={} {}", way, level);
      const Lines found = check("freed.cpp", flags, "", way == 3 ? 128 + SIGSEGV : 0);
      const std::string first = found.empty() ? "nothing" : found.front();
      EXPECT_EQ(first.substr(first.find(' ') + 1), "drop use") << flags;
      EXPECT_EQ(check("freed.cpp", flags + " -DREPAIRED"), Lines{}) << flags;
    }
  }
  std::string json = directory_ / "findings.json", out = directory_ / "out";
  check("freed.cpp", "-DWAY=1");
  run(fmt::format("{}cleave report {} > {}", kBin, json, out), 1);
  EXPECT_NE(text_of(out).find("Use after free: "), std::string::npos) << text_of(out);
  EXPECT_NE(text_of(json).find("\"op\": \"free\""), std::string::npos) << text_of(json);
  const Lines live = check_live("freed.cpp", "-DWAY=1");
  EXPECT_NE(std::find(live.begin(), live.end(), "Session: drop use"), live.end());
}

TEST_F(Programs, WhatIsGivenBackInOrderIsNoFinding) {
  for (int which = 1; which <= 5; ++which) {
    std::string program = build("freed.cpp", fmt::format("-DCORRECT={}", which));
    EXPECT_EQ(follow(program, "--schedule random --seed 7 --runs 10"), Lines{}) << which;
    EXPECT_EQ(follow(program, "--runs 5"), Lines{}) << which;
    EXPECT_EQ(follow(program, "--units methods,locks --schedule random --runs 10"), Lines{}) << which;
  }
}

}  // namespace
}  // namespace cleave
