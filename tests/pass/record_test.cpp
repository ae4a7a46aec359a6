// What programs record, at every optimisation level, read back by the tables that they carry.
#include <algorithm>
#include <map>

#include "pass/build_and_run.h"

namespace cleave {
namespace {

using Lines = std::vector<std::string>;

std::vector<Recorded> record_c(const std::string& source, const std::string& flags) {
  Folder folder;
  folder.write("a.c", source);
  Output built = folder.run("$CC -Wall -Werror " + flags + " a.c -o a");
  EXPECT_EQ(built.status, 0) << built.text;
  return folder.record("a");
}

std::vector<Recorded> record_cpp(const std::string& source, const std::string& flags) {
  Folder folder;
  folder.write("a.cpp", source);
  Output built = folder.run("$CXX -std=c++20 -Wall -Werror " + flags + " a.cpp -o a");
  EXPECT_EQ(built.status, 0) << built.text;
  return folder.record("a");
}

TEST(Record, AccessesHaveTheNamesOfTheSource) {
  for (const std::string& level : kLevels) {
    Lines seen =
        lines(record_c("struct account { int id; long balance; };\n"
                       "struct account one; int total; int slots[4]; volatile int position = 2;\n"
                       "__attribute__((noinline)) void put(struct account *a, long v) { a->balance = v; }\n"
                       "int main(void) { put(&one, 7); total = 3; slots[position] = 9; return "
                       "(int)one.balance - 7 + total - 3; }\n",
                       level),
              {"Read", "Write"});
    for (const char* line : {"Write account::balance 7", "Write total 3", "Read position 2",
                             "Write slots[] 9", "Read account::balance 7"}) {
      EXPECT_NE(std::ranges::find(seen, line), seen.end()) << level << ": " << line;
    }
  }
}

// An array without an end, behind the fields of its struct, is not the struct's first field again.
// No level merges, drops or moves what the source has: equal reads, a write that a later one overwrites,
// reads that are the same in every round of a loop, reads of what was just written, in static memory too.
TEST(Record, AccessesAreThoseOfTheSourceAtEveryLevel) {
  Folder folder;
  folder.write(
      "a.c",
      "struct Pair { int lo, hi; }; struct Pair p; static int flag; static int never; int *q = &p.lo;\n"
      "static int four(void) { return p.lo + p.lo + p.lo + p.lo; }\n"
      "static void twice(void) { p.hi = 1; p.hi = 2; never = 3; }\n"
      "static int rounds(void) { int sum = 0; for (int i = 0; i < 3; ++i) sum += *q; return sum; }\n"
      "static int sum(const int *a, const int *b) { return *a + *b; }\n"
      "int main(void) { twice(); flag = four(); int local = flag; local += flag; \n"
      " int x = 1, y = 2; return rounds() + local + sum(&x, &y) + flag - 3; }\n");
  const Lines expected = {"Write Pair::hi 1", "Write Pair::hi 2", "Write never 3",   "Read Pair::lo 0",
                          "Read Pair::lo 0",  "Read Pair::lo 0",  "Read Pair::lo 0", "Write flag 0",
                          "Read flag 0",      "Read flag 0",      "Read q",          "Read  0",
                          "Read q",           "Read  0",          "Read q",          "Read  0",
                          "Read flag 0"};
  for (const std::string& level : kLevels) {
    if (level == "-O0") continue;  // there x and y are passed by their addresses, and recorded
    ASSERT_EQ(folder.run("$CC " + level + " a.c -o a").text, "");
    Lines seen = lines(folder.record("a"), {"Read", "Write"});
    for (std::string& line : seen) {
      if (line.starts_with("Read q ")) line = "Read q";
    }
    EXPECT_EQ(seen, expected) << level;
  }
}

TEST(Record, FlexibleArraysHaveTheirOwnName) {
  for (const std::string& level : kLevels) {
    Lines seen = lines(
        record_c(
            "#include <stdlib.h>\n"
            "struct item { struct item *next; long size; union { unsigned long cas; char end; } data[]; };\n"
            "__attribute__((noinline)) void stamp(struct item *i, unsigned long v) { i->data->cas = v; }\n"
            "__attribute__((noinline)) void fill(struct item *i, int at, char c) { ((char "
            "*)i->data)[(i->size ? 8 : 0) + at] = c; }\n"
            "int main(void) { struct item *i = malloc(64); i->next = 0; i->size = 1; stamp(i, 77); fill(i, "
            "3, 65); return i->next != 0; }\n",
            level),
        {"Write"});
    EXPECT_NE(std::ranges::find(seen, "Write item::next 0"), seen.end()) << level;
    EXPECT_EQ(std::ranges::find(seen, "Write item::next 77"), seen.end()) << level;
    EXPECT_EQ(std::ranges::find(seen, "Write item::next 65"), seen.end()) << level;
  }
}

// The optimiser makes one fill out of several stores: each of its pieces has its own field's name, or none.
TEST(Record, PiecesOfAFillAreNotNamedAfterOneOfThem) {
  for (const std::string& level : kLevels) {
    std::vector<Recorded> events = record_cpp(
        "struct Part { long head; Part() : head(0) {} };\n"
        "struct Whole { long first = 5; Part part; long second = 0; long third = 0; };\n"
        "Whole* made;\n"
        "int main() { made = new Whole; return static_cast<int>(made->third); }\n",
        level);
    auto first = std::ranges::find_if(
        events, [](const Recorded& event) { return event.kind == "Write" && event.name == "Whole::first"; });
    ASSERT_NE(first, events.end()) << level;
    const std::map<std::string, uint64_t> offsets = {
        {"Whole::part", 8}, {"Part::head", 8}, {"Whole::second", 16}, {"Whole::third", 24}};
    for (const Recorded& event : events) {
      if (auto field = offsets.find(event.name); field != offsets.end())
        EXPECT_EQ(event.address - first->address, field->second) << level << ": " << event.name;
    }
  }
}

TEST(Record, EveryTypeIsSplitIntoItsBytes) {
  for (const std::string& level : kLevels) {
    std::vector<Recorded> events = record_cpp(
        "typedef int four __attribute__((vector_size(16)));\n"
        "__int128 wide; long double extended; double real; float small; bool flag; char *text; four vector; "
        "short half;\n"
        "int main(int argc, char **) { wide = (__int128)argc << 64 | 5; extended = 1.0L + argc; real = 0.5 * "
        "argc; small = 2.0f * argc;\n"
        " flag = argc > 0; text = nullptr; four v = {argc, 2, 3, argc}; vector = v; half = (short)-argc; }\n",
        level);
    auto written = [&](const std::string& name, size_t which) -> Recorded {
      for (const Recorded& event : events) {
        if (event.kind == "Write" && event.name == name && which-- == 0) return event;
      }
      return {};
    };
    EXPECT_EQ(written("wide", 0).value, 5u) << level;
    EXPECT_EQ(written("wide", 1).value, 1u) << level;
    EXPECT_EQ(written("wide", 1).address, written("wide", 0).address + 8) << level;
    EXPECT_EQ(written("extended", 0).value, 0x8000000000000000u) << level;
    EXPECT_EQ(written("extended", 1).width, 2u) << level;
    EXPECT_EQ(written("real", 0).value, 0x3fe0000000000000u) << level;
    EXPECT_EQ(written("small", 0).value, 0x40000000u) << level;
    EXPECT_EQ(written("flag", 0).value, 1u) << level;
    EXPECT_EQ(written("flag", 0).width, 1u) << level;
    EXPECT_EQ(written("half", 0).value, 0xffffu) << level << ": narrow integers are extended with zeros";
    std::vector<uint64_t> parts;
    for (const Recorded& event : events) {
      if (event.kind == "Write" && event.name == "vector[]") parts.push_back(event.value);
    }
    EXPECT_EQ(parts.size(), 2u) << level;
  }
}

TEST(Record, StringsAreSeenInEveryStandard) {
  for (const std::string& standard : {"-std=c++14", "-std=c++17", "-std=c++20"}) {
    for (const std::string& level : {" -O0", " -O2"}) {
      Folder folder;
      folder.write("a.cpp",
                   "#include <string>\nstd::string text;\n"
                   "int main(int argc, char **) { text.append(static_cast<size_t>(20 + argc), 'x'); "
                   "text.replace(0, 2, \"abc\"); return text.size() != 22; }\n");
      Output built = folder.run("$CXX " + standard + level + " a.cpp -o a");
      ASSERT_EQ(built.status, 0) << built.text;
      Lines seen = lines(folder.record("a"), {"Write"});
      for (const char* length : {"21", "22"}) {
        EXPECT_TRUE(std::ranges::any_of(
            seen, [&](const std::string& line) { return line.ends_with(std::string(" ") + length); }))
            << standard << level << ": length " << length;
      }
    }
  }
}

TEST(Record, BranchOutcomesAndSwitchesInOrder) {
  for (const std::string& level : {"-O0", "-O1"}) {
    std::vector<Recorded> events = record_c(
        "volatile int x;\nint main(void) { for (volatile int i = 0; i < 40; i = i + 1) { } "
        "switch (x) { case 1: x = 5; break; case 9: x = 6; break; case 12: x = 8; break; "
        "case 77: x = 3; break; default: x = 7; } return 0; }\n",
        level);
    std::string outcomes;
    for (const Recorded& event : events) outcomes += event.outcomes;
    EXPECT_NE(outcomes.find(std::string(40, '1') + "0"), std::string::npos) << level << " " << outcomes;
    Lines seen = lines(events, {"Switch", "Write"});
    EXPECT_NE(std::ranges::find(seen, "Switch  0"), seen.end()) << level;
    EXPECT_NE(std::ranges::find(seen, "Write x 7"), seen.end()) << level;
  }
}

TEST(Record, MoreOutcomesThanARecordHoldsAreHandedOver) {
  std::vector<Recorded> events = record_c(
      "__attribute__((noinline)) int odd(unsigned n) { int c = 0; while (n != 1) { if (n & 1) { n = 3 * n + "
      "1; "
      "__asm__(\"\"); } else { n /= 2; __asm__(\"nop\"); } c++; } return c; }\n"
      "int main(int argc, char **argv) { (void)argv; return odd(27u * (unsigned)argc) == 111 ? 0 : 1; }\n",
      "-O1");
  size_t outcomes = 0, handed_over = 0;
  for (const Recorded& event : events) {
    outcomes += event.outcomes.size();
    handed_over += event.kind == "branches";
    EXPECT_LE(event.outcomes.size(), 15u);
  }
  EXPECT_GT(outcomes, 222u) << "two branches a step, 111 steps";
  EXPECT_GT(handed_over, 10u);
}

TEST(Record, CallsFramesAndResults) {
  for (const std::string& level : kLevels) {
    std::vector<Recorded> events = record_c(
        "#include <stdlib.h>\n__attribute__((noinline)) int twice(int x) { return abs(x) + (int)labs(x - "
        "1L); }\n"
        "int (*volatile pointer)(int) = twice;\nint main(void) { return pointer(-3) - 7; }\n",
        level + " -fno-builtin");
    Lines seen = lines(events, {"Enter", "Exit", "Call"});
    EXPECT_EQ(seen, (Lines{"Enter main", "Call ", "Enter twice", "Call abs", "Call labs", "Exit ", "Exit "}))
        << level;
    std::vector<uint64_t> results;
    for (const Recorded& event : events) {
      if (event.kind == "CallResult") results.push_back(event.value);
    }
    EXPECT_EQ(results, (std::vector<uint64_t>{3, 4, 7})) << level;
  }
}

TEST(Record, AtomicsKeepTheirOrderAndBothValues) {
  for (const std::string& level : kLevels) {
    std::vector<Recorded> events = record_cpp(
        "#include <atomic>\nstruct Server { std::atomic<int> hits{0}; };\nServer server; std::atomic<long> "
        "plain{5};\n"
        "int main() { server.hits.fetch_add(3, std::memory_order_relaxed); long expected = 5;\n"
        " if (!plain.compare_exchange_strong(expected, 6)) return 1; expected = 9;\n"
        " if (plain.compare_exchange_strong(expected, 7, std::memory_order_acq_rel, "
        "std::memory_order_acquire)) return 2;\n"
        " plain.store(8, std::memory_order_release); std::atomic_thread_fence(std::memory_order_seq_cst);\n"
        " return plain.load(std::memory_order_acquire) == 8 ? 0 : 3; }\n",
        level);
    std::vector<Recorded> atomics;
    for (const Recorded& event : events) {
      if (event.kind == "atomic" || event.kind == "fence") atomics.push_back(event);
    }
    ASSERT_EQ(atomics.size(), 6u) << level;
    auto is = [&](size_t i, uint64_t operation, uint64_t order, uint64_t before, uint64_t after) {
      EXPECT_EQ(atomics[i].operation, operation) << level << " " << i;
      EXPECT_EQ(atomics[i].order, order) << level << " " << i;
      EXPECT_EQ(atomics[i].old_value, before) << level << " " << i;
      EXPECT_EQ(atomics[i].value, after) << level << " " << i;
    };
    is(0, 2, 0, 0, 3);
    is(1, 2, 5, 5, 6);
    is(2, 0, 2, 6, 6);  // failed: a load
    is(3, 1, 3, 8, 8);
    EXPECT_EQ(atomics[4].kind, "fence");
    EXPECT_EQ(atomics[4].order, 5u);
    is(5, 0, 2, 8, 8);
    EXPECT_EQ(atomics[0].bytes, 4u);
    EXPECT_EQ(atomics[1].bytes, 8u);
    if (level != "-O0") EXPECT_EQ(atomics[0].name, "Server::hits") << level;
  }
}

TEST(Record, CopiesAndStringsAreRanges) {
  for (const std::string& level : kLevels) {
    std::vector<Recorded> events = record_c(
        "#include <string.h>\n#include <stdio.h>\nchar name[64], other[64]; struct big { char bytes[300]; } "
        "left, right;\n"
        "int main(int argc, char **argv) { (void)argv; strcpy(name, argc ? \"hello\" : \"x\"); left = right; "
        "memset(other, argc, 63);\n"
        " snprintf(other, sizeof other, \"%d\", 1234); return strlen(name) + strcmp(name, other) > 1000; }\n",
        level + " -fno-builtin-strcmp");
    auto count = [&](const std::string& kind, const std::string& name, uint64_t bytes) {
      return std::ranges::count_if(events, [&](const Recorded& e) {
        return e.kind == kind && e.bytes == bytes && (name.empty() || e.name == name);
      });
    };
    EXPECT_GE(count("range_read", "", 300), 1) << level;
    EXPECT_GE(count("range_write", "", 300), 1) << level;
    EXPECT_GE(count("range_write", "", 5), 1) << level << ": 1234 and its end";
    EXPECT_GE(count("range_read", "", 5), 1) << level << ": strcmp, as far as the shorter";
  }
}

TEST(Record, WhatTheLibraryLeavesBehindPointersIsWritten) {
  for (const std::string& level : kLevels) {
    std::vector<Recorded> events = record_c(
        "#include <stdlib.h>\n#include <sys/stat.h>\n#include <sys/time.h>\n#include <time.h>\n"
        "struct timeval now; struct stat facts; char *end; time_t *nowhere;\n"
        "int main(int argc, char **argv) { gettimeofday(&now, NULL); stat(\".\", &facts);\n"
        " long n = strtol(argc > 9 ? argv[9] : \"12x\", &end, 10); return *end != 'x' || n != 12 || "
        "time(nowhere) == 0; }\n",
        level);
    auto count = [&](uint64_t bytes) {
      return std::ranges::count_if(
          events, [&](const Recorded& e) { return e.kind == "range_write" && e.bytes == bytes; });
    };
    EXPECT_EQ(count(16), 1) << level << ": gettimeofday";
    EXPECT_EQ(count(144), 1) << level << ": stat";
    EXPECT_EQ(count(8), 1) << level << ": strtol, and not time, which has no pointer";
    Lines calls = lines(events, {"Call"});
    EXPECT_EQ(std::ranges::count(calls, "Call gettimeofday"), 1) << level;
  }
}

TEST(Record, WhatNobodyElseCanSeeIsLeftOut) {
  for (const std::string& level : kLevels) {
    Lines seen = lines(record_c("static const int table[4] = {1, 2, 3, 4}; int "
                                "seen;\n__attribute__((noinline)) void take(int *p) { *p += 1; }\n"
                                "int main(int argc, char **argv) { (void)argv; int local[4] = {argc, 2, 3, "
                                "4}; volatile int mine = table[argc & 3] + local[argc & 3];\n"
                                " int shown = mine; take(&shown); seen = shown; return 0; }\n",
                                level),
                       {"Read", "Write"});
    for (const std::string& line : seen) {
      for (const char* hidden : {"table", "local", "mine"})
        EXPECT_EQ(line.find(hidden), std::string::npos) << level << line;
    }
    EXPECT_NE(std::ranges::find(seen, "Write seen 5"), seen.end()) << level;
  }
}

TEST(Record, VtablesAreLeftOutOfOptimisedCode) {
  std::vector<Recorded> events = record_cpp(
      "struct Shape { virtual int area() { return 1; } virtual ~Shape() = default; int side = 3; };\n"
      "struct Square : Shape { int area() override { return side * side; } };\n"
      "__attribute__((noinline)) int measure(Shape *s) { return s->area(); }\n"
      "int main() { Shape *s = new Square; int a = measure(s); delete s; return a - 9; }\n",
      "-O2");
  for (const Recorded& event : events) {
    if (event.kind == "Read" || event.kind == "Write") EXPECT_EQ(event.name, "Shape::side");
  }
}

}  // namespace
}  // namespace cleave
