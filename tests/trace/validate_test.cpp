#include "trace/core/validate.h"

#include <gtest/gtest.h>

#include "trace/text/text.h"

namespace cleave {
namespace {

// The sentences of all violations, joined; empty when the trace holds.
std::string verdict(std::string_view text) {
  Result<Trace> trace = parse_text_trace(text, "t");
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().sentence());
  if (!trace.ok()) return "unreadable";
  TraceSource source(trace.value());
  Result<Validation> validation = validate_trace(source);
  EXPECT_TRUE(validation.ok());
  std::string all;
  for (const Violation& violation : validation.value().violations) all += violation.sentence + "\n";
  return all;
}

TEST(Validate, AGoodTraceHolds) {
  EXPECT_EQ(
      verdict(
          "init x 20\nsync s kind=semaphore initial=1\nsync b kind=barrier initial=2\nmain fork T1\nmain "
          "fork T2\nT1 begin u\nT1 acquire m\nT1 read x 20\n"
          "T1 write x 10\nT1 release m\nT1 end\nT2 acquire m\nT2 update x 10 11\nT2 wait c m\nT1 acquire "
          "m\nT1 signal c\n"
          "T1 release m\nT2 wake c m\nT2 release m\nT1 down s\nT2 post s\nT1 down s\nT1 acquire-shared "
          "rw\nT2 acquire-shared rw\n"
          "T1 release-shared rw\nT2 release-shared rw\nT1 acquire rw\nT1 release rw\nT1 arrive b\nT2 arrive "
          "b\nT2 pass b\nT1 pass b\n"
          "T1 once-begin o\nT1 once-end o\nT2 once-seen o\nT1 exit\nmain join T1\nT2 exit\nmain join T2\n"),
      "");
}

TEST(Validate, AReadReturnsTheLastWrite) {
  EXPECT_EQ(verdict("T1 write x 1\nT2 read x 0 @f.c:3\n"),
            "event 1: T2 read x 0 (f.c:3): it returned 0, but the last write before it left 1\n");
  EXPECT_EQ(verdict("T1 update x 1 2\n"),
            "event 0: T1 update x 2: it returned 1, but the last write before it left 0\n");
}

TEST(Validate, LocksHaveOneOwner) {
  EXPECT_EQ(verdict("T1 acquire m\nT2 acquire m\n"), "event 1: T2 acquire m: m is held by T1\n");
  EXPECT_EQ(verdict("T1 acquire m\nT2 release m\n"), "event 1: T2 release m: m is held by T1\n");
  EXPECT_EQ(verdict("T1 release m\n"), "event 0: T1 release m: m is not held\n");
  EXPECT_EQ(verdict("T1 acquire-shared m\nT2 acquire m\n"),
            "event 1: T2 acquire m: m is held shared by T1\n");
  EXPECT_EQ(verdict("T1 acquire m\nT2 acquire-shared m\n"),
            "event 1: T2 acquire-shared m: it is held by T1\n");
  EXPECT_EQ(verdict("T1 release-shared m\n"), "event 0: T1 release-shared m: its thread does not hold it\n");
}

TEST(Validate, WaitsAreWoken) {
  EXPECT_EQ(verdict("T1 acquire m\nT1 wait c m\nT1 wake c m\nT1 release m\n"),
            "event 2: T1 wake c m: no signal has woken it\n");
  EXPECT_EQ(verdict("T1 acquire m\nT1 wait c m\nT1 wake c m value=1\nT1 release m\n"), "");  // timed out
  EXPECT_EQ(verdict("T2 signal c\nT1 acquire m\nT1 wait c m\nT1 wake c m\n"),
            "event 3: T1 wake c m: no signal has woken it\n");
  EXPECT_EQ(verdict("T1 acquire m\nT1 wait c m\nT2 acquire m\nT2 signal c\nT1 wake c m\n"),
            "event 4: T1 wake c m: m is held by T2\n");
}

TEST(Validate, ThreadsLiveBetweenForkAndJoin) {
  EXPECT_EQ(verdict("T1 read x 0\nmain fork T1\n"),
            "event 0: T1 read x 0: its thread runs before main has forked it\nevent 1: main fork T1: that "
            "thread has already run\n");
  EXPECT_EQ(verdict("main fork T1\nmain join T1\nT1 read x 0\n"),
            "event 2: T1 read x 0: its thread has already been joined\n");
}

TEST(Validate, SemaphoresBarriersOnceAndUnits) {
  EXPECT_EQ(verdict("T1 down s\n"),
            "event 0: T1 down s: more tokens are taken than the 0 that were there and the 0 posted\n");
  EXPECT_EQ(verdict("sync b kind=barrier initial=2\nT1 arrive b\nT1 pass b\n"),
            "event 1: T1 pass b: only 1 of 2 threads have arrived\n");
  EXPECT_EQ(verdict("T1 pass b\n"), "event 0: T1 pass b: its thread has not arrived there\n");
  EXPECT_EQ(verdict("T1 once-begin o\nT2 once-seen o\n"), "event 1: T2 once-seen o: it is still running\n");
  EXPECT_EQ(verdict("T1 once-begin o\nT2 once-begin o\n"), "event 1: T2 once-begin o: it is still running\n");
  EXPECT_EQ(verdict("T1 once-abort o\n"), "event 0: T1 once-abort o: it was not running\n");
  EXPECT_EQ(verdict("T1 once-begin o\nT1 once-abort o\nT2 once-begin o\nT2 once-end o\nT1 once-seen o\n"),
            "");
  EXPECT_EQ(verdict("T1 end\n"), "event 0: T1 end: no unit of its thread is open\n");
}

// Of a recorded program: T1 lost the processor and its reads stand before the writes that they saw; 7 was
// never written.
TEST(Validate, ReadsOfWhatIsWrittenLaterRaceAndAreNotUnwritten) {
  Result<Trace> trace = parse_text_trace(
      "variable x address=0x1000 size=4\nT1 read x 1\nT1 read x 2\nT1 read x 7\nT1 read x 3\n"
      "T2 write x 1\nT2 write x 2\nT2 write x 3\n",
      "t");
  ASSERT_TRUE(trace.ok());
  TraceSource source(trace.value());
  Result<Validation> validation = validate_trace(source);
  ASSERT_TRUE(validation.ok());
  EXPECT_TRUE(validation.value().holds());
  EXPECT_EQ(validation.value().misplaced, 3u);
  EXPECT_EQ(validation.value().unwritten, 1u);
}

// A value that comes back after it was overwritten, or that another thread writes later, is not a race where
// locks, fork or join order the accesses: code outside wrote it.
TEST(Validate, OrderedReadsOfWhatCodeOutsideWroteDoNotRace) {
  auto validated = [](const std::string& events) {
    Result<Trace> trace = parse_text_trace("variable x address=0x1000 size=4\n" + events, "t");
    EXPECT_TRUE(trace.ok());
    TraceSource source(trace.value());
    Result<Validation> validation = validate_trace(source);
    EXPECT_TRUE(validation.ok() && validation.value().holds());
    return std::pair(validation.value().unwritten, validation.value().misplaced);
  };
  using Counts = std::pair<uint64_t, uint64_t>;
  // The library writes 5 again between the two sections.
  EXPECT_EQ(validated("main write x 5\nmain fork T1\nT1 acquire m\nT1 write x 6\nT1 release m\n"
                      "main acquire m\nmain read x 5\nmain release m\n"),
            Counts(1, 0));
  EXPECT_EQ(validated("main write x 5\nmain fork T1\nT1 write x 6\nmain read x 5\n"), Counts(0, 1));
  // Before the thread that writes 9 was there, and after it was.
  EXPECT_EQ(validated("main read x 9\nmain fork T1\nT1 write x 9\n"), Counts(1, 0));
  EXPECT_EQ(validated("main fork T1\nmain read x 9\nT1 write x 9\n"), Counts(0, 1));
  EXPECT_EQ(validated("main write x 0\nmain fork T1\nT1 write x 7\nT1 exit\nmain join T1\nmain read x 0\n"),
            Counts(1, 0));
  // A thread does not race with itself.
  EXPECT_EQ(validated("main fork T1\nmain read x 9\nmain write x 9\nT1 read x 9\n"), Counts(1, 0));
}

}  // namespace
}  // namespace cleave
