#include "base/progress.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

namespace cleave {
namespace {

TEST(Progress, SaysWhatIsKnown) {
  Progress progress;
  progress.begin("reading the trace");
  EXPECT_EQ(progress.text(), "reading the trace");
  progress.begin("candidates decided", 17);
  EXPECT_EQ(progress.text(), "0 of 17 candidates decided");
  progress.more(3);
  EXPECT_EQ(progress.text(), "3 of 17 candidates decided");
  progress.begin("events judged");
  progress.more(31'250'000);
  EXPECT_EQ(progress.text(), "31.2 million events judged");
  progress.bytes(uint64_t{412} << 20, uint64_t{2301} << 20);
  EXPECT_EQ(progress.text(), "31.2 million events judged, 412 of 2301 MB");
  progress.begin("candidates decided");
  EXPECT_EQ(progress.text(), "candidates decided");
}

TEST(ProgressLine, IsDrawnOnATerminalAndTakenAway) {
  int ours = -1, terminal = -1;
  ASSERT_EQ(openpty(&ours, &terminal, nullptr, nullptr, nullptr), 0);
  std::string drawn;
  auto read_until = [&](const std::string& wanted) {
    char bytes[256];
    while (drawn.find(wanted) == std::string::npos) {
      ssize_t count = read(ours, bytes, sizeof bytes);
      if (count <= 0) return false;
      drawn.append(bytes, static_cast<size_t>(count));
    }
    return true;
  };
  {
    ProgressLine line(terminal, std::chrono::milliseconds(0));
    line.progress().begin("events judged");
    line.progress().more(5);
    EXPECT_TRUE(read_until("cleave: 5 events judged, "));
    drawn.clear();
  }
  close(terminal);
  read_until("nothing that comes: to the end");
  EXPECT_TRUE(drawn.ends_with("\r\033[K")) << drawn;
  close(ours);
}

TEST(ProgressLine, ElsewhereNothingIsDrawnToMakeWay) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  {
    ProgressLine line(ends[1]);
    line.progress().begin("events judged");
    line.make_way();
  }
  close(ends[1]);
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 0);
  close(ends[0]);
}

TEST(ProgressLine, ElsewhereALineOfItsOwnNowAndThen) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ProgressLine line(ends[1], std::chrono::milliseconds(0), std::chrono::milliseconds(1));
  line.progress().begin("events judged");
  line.progress().more(5);
  std::string lines;
  for (char byte;
       lines.find("cleave: 5 events judged, 0 s\n") == std::string::npos && read(ends[0], &byte, 1) == 1;)
    lines += byte;
  EXPECT_EQ(lines.find('\033'), std::string::npos);
  line.clear();
  close(ends[1]);
  close(ends[0]);
}

TEST(ProgressLine, DrawsNothingElsewhereAtOnce) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  {
    ProgressLine line(ends[1], std::chrono::milliseconds(0));
    line.progress().begin("events judged");
  }
  close(ends[1]);
  char byte;
  EXPECT_EQ(read(ends[0], &byte, 1), 0);
  close(ends[0]);
}

}  // namespace
}  // namespace cleave
