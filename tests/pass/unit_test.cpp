// Units: marked before inlining, closed on every way out; and what the tables say of classes and functions.
#include <algorithm>
#include <map>

#include "pass/build_and_run.h"

namespace cleave {
namespace {

using Lines = std::vector<std::string>;

// Whoever makes or destroys an object does not touch its fields, however little the compiler makes of it; a
// lambda is no object.
TEST(Units, MakingAndDestroyingIsTheObjectsOwn) {
  Folder folder;
  folder.write("a.cpp",
               "struct Count { long value = 0; ~Count() { value = -1; } };\n"
               "template <typename T> class Pair { public: explicit Pair(T v) : first(v) {} T first; Count "
               "second; };\n"
               "Pair<long>* made;\n"
               "int main() { made = new Pair<long>(7); long n = 1; auto add = [&n] { n += 2; n += 3; }; "
               "add(); delete made; }\n");
  for (const std::string& level : kLevels) {
    ASSERT_EQ(folder.run("$CXX " + level + " a.cpp -o a").text, "");
    Lines made = lines(folder.record("a"), {"UnitBegin"});
    std::erase_if(made, [](const std::string& line) { return line.find("operator()") != std::string::npos; });
    EXPECT_EQ(made, (Lines{"UnitBegin Pair<long>::Pair", "UnitBegin Count::Count",
                           "UnitBegin Pair<long>::~Pair", "UnitBegin Count::~Count"}))
        << level;
  }
}

TEST(Units, MethodsAnnotationsAndStretches) {
  Folder folder;
  folder.write(
      "a.cpp",
      "#include <cleave/annotate.h>\n"
      "class Account { public: Account() : balance(1) { balance = 2; balance = 3; } int get() const { return "
      "balance; }\n"
      "  void deposit(int v) { balance = balance + v; log(); } CLEAVE_NOT_ATOMIC void skip() { balance++; "
      "balance++; }\n"
      " private: void log() { entries++; entries++; } int balance; int entries = 0; };\n"
      "Account account; int x, y;\n"
      "CLEAVE_ATOMIC static void both() { x = 1; y = 1; }\n"
      "static void plain() { x = 2; y = 2; }\n"
      "void owner(int n, CLEAVE_UNITFOR Account *a) { a->deposit(n); x = n; }\n"
      "int main() { account.deposit(2); account.skip(); both(); plain(); owner(3, &account);\n"
      " CLEAVE_ATOMIC_BEGIN(\"stretch\"); x = 3; y = account.get(); CLEAVE_ATOMIC_END(); return 0; }\n");
  const Lines expected = {"UnitBegin Account::Account",
                          "UnitEnd Account::Account",
                          "UnitBegin Account::deposit",
                          "UnitBegin Account::log",
                          "UnitEnd Account::log",
                          "UnitEnd Account::deposit",
                          "UnitBegin Account::skip",
                          "UnitEnd Account::skip",
                          "UnitBegin both",
                          "UnitEnd both",
                          "UnitBegin plain",
                          "UnitEnd plain",
                          "UnitBegin owner",
                          "UnitBegin Account::deposit",
                          "UnitBegin Account::log",
                          "UnitEnd Account::log",
                          "UnitEnd Account::deposit",
                          "UnitEnd owner",
                          "UnitBegin stretch",
                          "UnitEnd "};
  for (const std::string& level : kLevels) {
    Output built = folder.run("$CXX " + level + " a.cpp -o a");
    ASSERT_EQ(built.text, "");
    EXPECT_EQ(lines(folder.record("a"), {"UnitBegin", "UnitEnd"}), expected) << level;
    Result<Program> program = Program::open(folder.path("a"));
    ASSERT_TRUE(program.ok());
    std::map<std::string, uint32_t> sources;
    for (const UnitEntry& unit : program.value().modules[0].tables.units) sources[unit.name] = unit.source;
    EXPECT_EQ(sources, (std::map<std::string, uint32_t>{{"Account::Account", 1},
                                                        {"Account::deposit", 1},
                                                        {"Account::log", 3},
                                                        {"Account::skip", 4},
                                                        {"both", 0},
                                                        {"plain", 3},
                                                        {"owner", 5},
                                                        {"stretch", 0}}))
        << level;
  }
}

// What the source reads in every round of a loop is read there at every level, in the unit of the method that
// reads it.
TEST(Units, ReadsOfMethodsThatOnlyReadStayInLoops) {
  Folder folder;
  folder.write("a.cpp",
               "#include <cleave/annotate.h>\n"
               "struct Grid { unsigned width = 4; double *cells; double &at(unsigned r, unsigned c) { return "
               "cells[r * width + c]; }\n"
               " CLEAVE_ATOMIC double *asked(unsigned r) { return cells + r * width; } void set(int v) { "
               "width = v; width = 4; } };\n"
               "static double room[16]; Grid grid{4, room};\n"
               "int main() { for (unsigned i = 0; i < 4; ++i) grid.at(2, i) = 7; for (unsigned i = 0; i < 2; "
               "++i) *grid.asked(i) = 1;\n"
               " grid.set(9); return 0; }\n");
  for (const std::string& level : kLevels) {
    ASSERT_EQ(folder.run("$CXX " + level + " a.cpp -o a").text, "");
    std::vector<Recorded> events = folder.record("a");
    Lines units = lines(events, {"UnitBegin"}), reads = lines(events, {"Read"});
    EXPECT_EQ(std::ranges::count(units, "UnitBegin Grid::at"), 4) << level;
    EXPECT_EQ(std::ranges::count(units, "UnitBegin Grid::asked"), 2) << level;
    EXPECT_EQ(std::ranges::count(units, "UnitBegin Grid::set"), 1) << level;
    EXPECT_EQ(std::ranges::count(reads, "Read Grid::width 4"), 6) << level;
    EXPECT_EQ(lines(events, {"Write"}).size(), 8u) << level;
  }
}

TEST(Units, FunctionsOfStructsInC) {
  Folder folder;
  folder.write("a.c",
               "typedef struct queue { int head, tail; } queue; queue q;\nvoid push(queue *q, int v) { "
               "q->head = v; q->tail = v; }\n"
               "int main(void) { push(&q, 4); return 0; }\n");
  for (const std::string& level : kLevels) {
    ASSERT_EQ(folder.run("$CC " + level + " a.c -o a").text, "");
    std::vector<Recorded> events = folder.record("a");
    EXPECT_EQ(lines(events, {"UnitBegin", "Write", "UnitEnd"}),
              (Lines{"UnitBegin push", "Write queue::head 4", "Write queue::tail 4", "UnitEnd push"}))
        << level;
    const UnitEntry unit = Program::open(folder.path("a")).value().modules[0].tables.units.at(0);
    EXPECT_EQ(unit.source, 2u);
  }
}

TEST(Units, EndWhenAnExceptionOrAJumpLeavesThem) {
  Folder folder;
  folder.write(
      "a.cpp",
      "#include <csetjmp>\nstruct Log { void append(int v) { lines = lines + v; if (v > 1) throw v; lines = "
      "0; } int lines = 0; };\n"
      "Log shared; jmp_buf place; int after;\n__attribute__((noinline)) void jump() { longjmp(place, 1); }\n"
      "int main() { shared.append(1); try { shared.append(2); } catch (int) { after = 1; }\n"
      " if (setjmp(place) == 0) jump(); after = 2; return 0; }\n");
  for (const std::string& level : kLevels) {
    ASSERT_EQ(folder.run("$CXX " + level + " a.cpp -o a").text, "");
    std::vector<Recorded> events = folder.record("a");
    std::vector<Recorded> landings;
    int open = 0;
    uint64_t main_frame = 0;
    for (const Recorded& event : events) {
      if (event.kind == "Enter" && event.name == "main") main_frame = event.value;
      if (event.kind == "UnitBegin" && event.name == "Log::append") ++open;
      if (event.kind == "UnitEnd" && event.name == "Log::append") --open;
      if (event.kind == "Landing") landings.push_back(event);
      if (event.kind == "Write" && event.name == "after") {
        EXPECT_EQ(open, 0) << level;
        ASSERT_FALSE(landings.empty()) << level;
        EXPECT_EQ(landings.back().value, main_frame) << level;
      }
    }
    EXPECT_EQ(open, 0) << level;
  }
}

TEST(Tables, ClassesFieldsAndGlobals) {
  Folder folder;
  folder.write(
      "a.cpp",
      "#include <cleave/annotate.h>\n#include <atomic>\nnamespace bank {\nstruct Base { int base = 1; };\n"
      "class Account : public Base { public: void touch() { checking++; savings++; hits++; *owned = 1; "
      "count++; }\n"
      " private: CLEAVE_SET(\"money\") int checking = 0; CLEAVE_SET(\"money\") long savings = 0; "
      "std::atomic<int> hits{0};\n"
      " CLEAVE_OWNED int *owned = &base; static int count; const int id = 4; };\nint Account::count = 7; "
      "Account account; }\n"
      "static int file_static = 0x01020304; int zero;\n"
      "int main() { bank::account.touch(); return file_static == 0; }\n");
  for (const std::string& level : {"-O0", "-O2"}) {
    ASSERT_EQ(folder.run("$CXX " + std::string(level) + " a.cpp -o a").text, "");
    Result<Program> program = Program::open(folder.path("a"));
    ASSERT_TRUE(program.ok());
    const SiteTables& tables = program.value().modules[0].tables;
    auto type = std::ranges::find(tables.types, "bank::Account", &TypeEntry::name);
    ASSERT_NE(type, tables.types.end()) << level;
    auto field = [&](const std::string& name) {
      auto found = std::ranges::find(type->fields, name, &FieldEntry::name);
      return found == type->fields.end() ? FieldEntry{} : *found;
    };
    EXPECT_EQ(field("checking").set, "money") << level;
    EXPECT_EQ(field("savings").set, "money") << level;
    EXPECT_EQ(field("savings").offset, 8u);
    EXPECT_EQ(field("checking").flags, FieldEntry::kPrivate);
    EXPECT_TRUE(field("hits").flags & FieldEntry::kAtomic);
    EXPECT_TRUE(field("owned").flags & FieldEntry::kOwned) << level;
    EXPECT_TRUE(field("count").flags & FieldEntry::kStaticMember);
    EXPECT_TRUE(field("id").flags & FieldEntry::kConst);
    EXPECT_TRUE(field("bank::Base").flags & FieldEntry::kBase);
    auto global = [&](const std::string& name) {
      auto found = std::ranges::find(tables.globals, name, &GlobalEntry::name);
      return found == tables.globals.end() ? GlobalEntry{} : *found;
    };
    EXPECT_EQ(global("zero").flags, GlobalEntry::kZeroInitialised);
    EXPECT_EQ(global("bank::Account::count").flags, GlobalEntry::kClassStatic);
    EXPECT_EQ(global("bank::Account::count").initial, (std::vector<uint8_t>{7, 0, 0, 0}));
    EXPECT_EQ(global("bank::account").type_name, "bank::Account");
  }
}

TEST(Tables, InlinedAccessesKnowTheirCallers) {
  Folder folder;
  folder.write("a.c",
               "int x;\nstatic inline void inner(void) {\n  x = 1;\n}\nstatic inline void outer(void) {\n  "
               "inner();\n}\n"
               "int main(void) {\n  outer();\n  return 0;\n}\n");
  ASSERT_EQ(folder.run("$CC -O2 a.c -o a").text, "");
  Result<Program> program = Program::open(folder.path("a"));
  ASSERT_TRUE(program.ok());
  const SiteTables& tables = program.value().modules[0].tables;
  bool found = false;
  for (const SiteEntry& site : tables.sites) {
    if (site.variable == kNoIndex || tables.strings[site.variable] != "x") continue;
    found = true;
    EXPECT_EQ(site.line, 3u);
    EXPECT_EQ(tables.functions[site.function].name, "inner");
    const SiteEntry& middle = tables.sites.at(site.inlined_at);
    EXPECT_EQ(middle.line, 6u);
    EXPECT_EQ(tables.functions[middle.function].name, "outer");
    EXPECT_EQ(tables.sites.at(middle.inlined_at).line, 9u);
  }
  EXPECT_TRUE(found);
}

TEST(Program, SaysWhatIsWrongWithAFile) {
  Folder folder;
  folder.write("text", "hello\n");
  folder.write("a.c", "int main(void) { return 0; }\n");
  ASSERT_EQ(folder.run("clang-19 a.c -o plain && $CC a.c -o built && head -c 3000 built > short").text, "");
  EXPECT_NE(Program::open(folder.path("missing")).error().message.find("cannot be read"), std::string::npos);
  EXPECT_NE(Program::open(folder.path("text")).error().message.find("not a program"), std::string::npos);
  EXPECT_NE(Program::open(folder.path("plain")).error().message.find("not built with Cleave"),
            std::string::npos);
  EXPECT_FALSE(Program::open(folder.path("short")).ok());
  EXPECT_FALSE(Program::open(folder.path("")).ok());
}

TEST(Program, BitcodeIsTheCodeThatWasInstrumented) {
  Folder folder;
  folder.write("a.c", "int x; int main(void) { x = 1; return x - 1; }\n");
  ASSERT_EQ(folder.run("$CC -O2 a.c -o a").text, "");
  Result<Program> program = Program::open(folder.path("a"));
  ASSERT_TRUE(program.ok());
  Result<std::vector<uint8_t>> bitcode = program.value().modules[0].bitcode();
  ASSERT_TRUE(bitcode.ok());
  folder.write("a.bc", std::string(bitcode.value().begin(), bitcode.value().end()));
  Output text = folder.run("/usr/lib/llvm-19/bin/llvm-dis a.bc -o -");
  EXPECT_NE(text.text.find("!cleave.slot"), std::string::npos) << text.text;
  EXPECT_EQ(text.text.find("__cleave_thread"), std::string::npos);
}

}  // namespace
}  // namespace cleave
