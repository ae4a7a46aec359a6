#include "trace/text/rapid.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "base/random.h"
#include "trace/core/load.h"
#include "trace/text/text.h"

namespace cleave {
namespace {

constexpr std::string_view kTrace =
    "T0|fork(T1)|1\nT1|begin|2\nT1|acq(l)|17\nT1|acq(l)|17\nT1|r(x)|3\nT1|rel(l)|4\nT1|w(x)|5\nT1|rel(l)|"
    "4\nT1|end|6\nT0|join(T1)|7\n";

TEST(Rapid, EveryOperationIsRead) {
  Result<Trace> trace = parse_rapid_trace(kTrace, "t.std");
  ASSERT_TRUE(trace.ok()) << trace.error().sentence();
  EXPECT_EQ(write_text_trace(trace.value()),
            "# cleave text trace 1\nT0 fork T1 @rapid:1\nT1 begin unit@2 @rapid:2\nT1 acquire l "
            "@rapid:17\nT1 read x 0 @rapid:3\n"
            "T1 write x 0 @rapid:5\nT1 release l @rapid:4\nT1 end @rapid:6\nT0 join T1 @rapid:7\n");
}

// Names that are a letter and a number are found without hashing once they are known; what only looks like
// one is not.
TEST(Rapid, NamesThatLookAlikeStayApart) {
  std::string text;
  const char* threads[] = {"T", "T0", "T1", "T01", "T12", "S1", "T123456789"};
  const char* variables[] = {"V", "V0", "V1", "V01", "V10", "W1", "V100000000", "V1x"};
  for (int round = 0; round < 3; ++round) {
    for (const char* thread : threads) {
      for (const char* variable : variables)
        text += fmt::format("{}|{}({})|{}\n", thread, round ? "r" : "w", variable, 7);
    }
  }
  Result<Trace> trace = parse_rapid_trace(text, "test");
  ASSERT_TRUE(trace.ok());
  ASSERT_EQ(trace.value().size(), 3 * std::size(threads) * std::size(variables));
  for (size_t i = 0; i < trace.value().size(); ++i) {
    const Event& event = trace.value().events()[i];
    EXPECT_EQ(trace.value().thread(event.thread).name,
              threads[i / std::size(variables) % std::size(threads)]);
    EXPECT_EQ(trace.value().variable(event.variable()).name, variables[i % std::size(variables)]);
    EXPECT_EQ(event.kind, i < std::size(threads) * std::size(variables) ? EventKind::Write : EventKind::Read);
  }
}

// A blank at its end makes a line one that is read word by word.
TEST(Rapid, AGlanceGivesWhatReadingWordByWordGives) {
  Random random(11);
  auto one_of = [&](std::initializer_list<const char*> words) {
    return words.begin()[random.below(words.size())];
  };
  auto name = [&](const char* letters) {
    std::string text(1, letters[random.below(3)]);
    if (random.chance(1, 20)) text += one_of({"", "x", "0", "00", "(", ")", "|", "-"});
    for (uint64_t digits = random.chance(1, 30) ? 8 : random.below(5); digits > 0; --digits)
      text += static_cast<char>('0' + random.below(10));
    return text;
  };
  const std::vector<std::string> locations{"0", "7", "07", "42", "4194304", "12345678", "a1", ""};
  size_t read = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::string> threads, variables;
    for (int n = 0; n < 12; ++n) threads.push_back(name("TTS")), variables.push_back(name("VVW"));
    std::string quick, slow;
    for (int n = 0; n < 40; ++n) {
      std::string what =
          one_of({"r", "w", "r", "w", "r", "w", "begin", "end", "begin", "acq", "rel", "fork", "beg"});
      if (what == "beg" && !random.chance(1, 8)) what = "end";
      if (what.size() < 3 || what == "acq" || what == "rel") what += "(" + variables[random.below(12)] + ")";
      if (what == "fork") what += "(" + threads[random.below(12)] + ")";
      std::string line =
          threads[random.below(12)] + "|" + what + "|" + locations[random.below(locations.size())];
      quick += line + "\n";
      slow += line + " \n";
    }
    if (random.chance(1, 8)) quick.pop_back();
    Result<Trace> a = parse_rapid_trace(quick, "t"), b = parse_rapid_trace(slow, "t");
    ASSERT_EQ(a.ok(), b.ok()) << quick;
    if (!a.ok()) {
      EXPECT_EQ(a.error().sentence(), b.error().sentence());
      continue;
    }
    ++read;
    ASSERT_TRUE(a.value() == b.value()) << quick;
  }
  EXPECT_GT(read, 100u);
}

TEST(Rapid, ErrorsNameTheLine) {
  auto error_of = [](std::string_view text) {
    Result<Trace> trace = parse_rapid_trace(text, "t.std");
    return trace.ok() ? "no error" : trace.error().sentence();
  };
  EXPECT_EQ(error_of("T0|r(x)|1\nT0 r x\n"),
            "t.std: line 2: not a line of RAPID's STD format, THREAD|OPERATION|LOCATION");
  EXPECT_EQ(error_of("T0|lock(x)|1\n"), "t.std: line 1: 'lock' is not an operation of RAPID's STD format");
  EXPECT_EQ(error_of("T0|r|1\n"), "t.std: line 1: r of what?");
  EXPECT_EQ(error_of("T0|r(x|1\n"), "t.std: line 1: 'r(x' has no closing bracket");
}

TEST(Rapid, TheSourceGivesWhatTheLoaderGives) {
  std::string path = testing::TempDir() + "rapid_test.std";
  std::ofstream(path) << kTrace;
  Result<Trace> trace = load_trace(path);
  ASSERT_TRUE(trace.ok()) << trace.error().sentence();
  Result<std::unique_ptr<EventSource>> source = open_trace(path);
  ASSERT_TRUE(source.ok());
  std::vector<Event> events;
  for (;;) {
    Result<std::span<const Event>> batch = source.value()->next();
    ASSERT_TRUE(batch.ok());
    if (batch.value().empty()) break;
    events.insert(events.end(), batch.value().begin(), batch.value().end());
  }
  ASSERT_EQ(events.size(), trace.value().size());
  EXPECT_TRUE(std::equal(events.begin(), events.end(), trace.value().events().begin()));
  std::remove(path.c_str());
}

TEST(Rapid, DamagedTextIsAnErrorOrATraceNeverACrash) {
  Random random(3);
  for (int i = 0; i < 20000; ++i) {
    std::string text(kTrace);
    for (uint64_t n = 1 + random.below(4); n > 0; --n)
      text[random.below(text.size())] = "|()\nT0 rw#9"[random.below(11)];
    (void)parse_rapid_trace(text, "t");
  }
}

}  // namespace
}  // namespace cleave
