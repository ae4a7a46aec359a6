// Where a run leaves the model's order: path, sources of reads, or nowhere.
#include "confirm/first_difference.h"

#include <gtest/gtest.h>

#include "trace/text/text.h"

namespace cleave::confirm {
namespace {

Trace text(const std::string& body) {
  Result<Trace> trace = parse_text_trace("# cleave text trace 1\n" + body, "test");
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().sentence());
  return std::move(trace).value();
}

// T1 alone, then T2; the model wants T2's write between the two reads of T1.
const char* const kRecorded =
    "T1 read  x 0 @a.c:1\nT1 read  x 0 @a.c:2\nT1 write y 1 @a.c:3\nT2 write x 5 @a.c:9\n";
const std::vector<prediction::EventNumber> kOrder{0, 3, 1};

TEST(FirstDifference, ARunThatFollowsTheModelHasNone) {
  Trace run = text("T1 read x 0 @a.c:1\nT2 write x 5 @a.c:9\nT1 read x 5 @a.c:2\nT1 write y 2 @a.c:4\n");
  EXPECT_EQ(first_difference(text(kRecorded), kOrder, run), "");
}

TEST(FirstDifference, AReadThatFindsAnotherWriteIsNamed) {
  std::string found = first_difference(text(kRecorded), kOrder, text(kRecorded));
  EXPECT_NE(found.find("should read at a.c:2 and find the write at a.c:9 by thread T2"), std::string::npos)
      << found;
  EXPECT_NE(found.find("but finds what was there at the beginning"), std::string::npos) << found;
}

TEST(FirstDifference, AThreadThatTakesAnotherPathIsNamed) {
  Trace run = text("T1 read x 0 @a.c:1\nT2 write x 5 @a.c:9\nT1 write z 5 @a.c:7\n");
  std::string found = first_difference(text(kRecorded), kOrder, run);
  EXPECT_NE(found.find("thread T1 should read at a.c:2, but comes to write at a.c:7"), std::string::npos)
      << found;
}

TEST(FirstDifference, AThreadThatEndsEarlyIsNamed) {
  Trace run = text("T1 read x 0 @a.c:1\nT2 write x 5 @a.c:9\n");
  std::string found = first_difference(text(kRecorded), kOrder, run);
  EXPECT_NE(found.find("thread T1 should read at a.c:2, but has ended before"), std::string::npos) << found;
}

}  // namespace
}  // namespace cleave::confirm
